import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { payloadHash } from '#src/job/payload/payload.js';
import { encodeSnapshot, loadChunk } from '#src/ledger/codec/ledger-snapshot-codec.js';
import { StoredFeed } from '#src/ledger/feeds/stored-feed.js';
import { Ledger } from '#src/ledger/ledger.js';
import type { FeedRecord } from '#src/ledger/ledger-record.js';
import { firstRecords } from '../random-records.js';

const feeds = suite('stored feed');

function record(feeder: string, first: number, items: readonly string[], final = false): FeedRecord {
  return { type: 'feed', at: 1, job: 1, feeder, first, items, final };
}

/** Long items are texts before the snapshot and bytes behind it. */
function textsOf(ledger: Ledger, job: number): unknown[] {
  const feed = ledger.feeds.get(job);
  const digests = (feed?.kept() ?? []).map((item) => payloadHash('', item));
  return [feed?.base, feed?.next, feed?.bytes, feed?.end, ...(feed?.feeders ?? []), ...digests];
}

feeds('items are taken once by the number of their feeder, in the order of the records', () => {
  const feed = new StoredFeed();
  feed.take(record('a', 0, ['1', '2']));
  feed.take(record('b', 0, ['3']));
  feed.take(record('a', 1, ['2', '4']));
  feed.take(record('a', 4, ['ahead']));
  assert.equal(feed.kept(), ['1', '2', '3', '4']);
  assert.is(feed.next, 4);
  assert.ok(feed.has(record('a', 1, ['2', '4'])));
  assert.not(feed.has(record('a', 2, ['4', '5'])));
});

feeds('nothing is taken behind the end, and the end is known by its number', () => {
  const feed = new StoredFeed();
  feed.take(record('a', 0, ['1'], true));
  feed.take(record('b', 0, ['2']));
  assert.equal(feed.kept(), ['1']);
  assert.is(feed.end, 'final');
  assert.ok(feed.has(record('a', 0, ['1'], true)));
  assert.not(feed.has(record('a', 0, ['1', '2'], true)));
});

feeds('bytes are those of the kept items, with 16 for each', () => {
  const feed = new StoredFeed();
  feed.take(record('a', 0, ['123', '1234', '12345']));
  assert.is(feed.bytes, 12 + 3 * 16);
  const { totalBytes } = feed;
  feed.drop(2);
  assert.is(feed.bytes, 5 + 16);
  assert.is(feed.totalBytes, totalBytes);
  assert.is(feed.at(2), '12345');
  assert.not(feed.isReplayable);
  feed.clear();
  assert.is(feed.bytes, 0);
  assert.is(feed.next, 3);
});

feeds('a snapshot keeps feeds, a long one in parts, and gives the same bytes again', () => {
  const ledger = new Ledger();
  for (const one of firstRecords()) ledger.apply(one);
  for (const job of [1, 2, 3])
    ledger.apply({
      type: 'enqueue',
      at: 2,
      producer: 1,
      seq: job,
      low: 0,
      job,
      policy: 1,
      dueAt: 0,
      key: '',
      payload: '1',
    });
  for (let i = 0; i < 9; i += 1) ledger.apply(record('ann t1', i, ['x'.repeat(50_000)]));
  ledger.apply({ ...record('bob t2', 0, [], true), job: 2 });
  ledger.apply({ ...record('bob t2', 0, ['1', '2']), job: 3 });
  ledger.apply({ type: 'feed_drop', at: 3, job: 3, below: 1 });
  ledger.apply({ type: 'assign', at: 4, job: 3, attempt: 1, worker: 'w~1' });
  ledger.apply({ type: 'ack', at: 5, job: 3, attempt: 1, result: '1' });
  const chunks = [...encodeSnapshot(ledger)].map((chunk) => Buffer.from(chunk));
  const restored = new Ledger();
  for (const chunk of chunks) loadChunk(restored, chunk);
  assert.is(restored.liveBytes, ledger.liveBytes);
  assert.is(restored.usages.of('ann').jobBytes, ledger.usages.of('ann').jobBytes);
  for (const job of [1, 2, 3]) assert.equal(textsOf(restored, job), textsOf(ledger, job));
  assert.ok(Buffer.concat([...encodeSnapshot(restored)]).equals(Buffer.concat(chunks)));
});

feeds.run();
