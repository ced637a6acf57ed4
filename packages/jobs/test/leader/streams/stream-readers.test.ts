import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_STREAM } from '#src/job/definition/stream-policy.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness } from '../leader-harness.js';
import { StreamHarness } from './stream-harness.js';

const readers = suite('stream readers');

const READERS_MAX = 1_024;

readers('a client has a bounded number of readers', () => {
  const harness = new LeaderHarness();
  const streaming = { ...policyOf('one'), streaming: 'response', stream: DEFAULT_STREAM } as const;
  const client = new FakeClient(harness, 'ann', 't1', streaming);
  client.submit('x');
  const read = (reader: number): string[] => {
    const before = client.received.length;
    client.write({ kind: 'read_stream', reader, job: 1, attempt: 0, offset: 0, window: 1_000 });
    return client.received
      .slice(before)
      .flatMap((message) => (message.kind === 'stream_items' ? message.items : []))
      .map((item) => (item.kind === 'refused' ? item.status : item.kind));
  };
  for (let reader = 1; reader <= READERS_MAX; reader += 1) assert.equal(read(reader), []);
  assert.equal(read(READERS_MAX + 1), ['RESOURCE_EXHAUSTED']);
  client.write({ kind: 'stop_stream', reader: 1 });
  assert.equal(read(READERS_MAX + 1), []);
});

for (const hasSpill of [true, false])
  readers(
    `a job that loses its workers ends its stream with its outcome, behind a reset for each, ${hasSpill ? 'with' : 'without'} a spill`,
    () => {
      const stream = new StreamHarness({ hasSpill });
      const reader = stream.read();
      const { crashes } = policyOf('one').retry;
      for (stream.attempt = 1; stream.attempt <= crashes; stream.attempt += 1) {
        stream.yield(0, 2);
        stream.worker.disconnect();
        stream.leader.advance(60_000);
        stream.worker = stream.leader.worker({ incarnation: String(stream.attempt + 1) });
      }
      const { summary, items } = reader;
      assert.is(summary, `0-2${', reset, 0-2'.repeat(crashes - 1)}, end`);
      const end = items.at(-1);
      assert.equal(end?.kind === 'end' && [end.outcome.state, end.outcome.reason], ['dead', 'quarantined']);
    },
  );

// A handler waited until its time was over, with a reader that had read everything (found by the simulation).
readers('a reader that comes back has consumed what is before its position: the worker may go on', () => {
  const stream = new StreamHarness({ stream: { whenUnread: 'wait' } });
  const lost = stream.read();
  const full = stream.yieldWithinWindow(0, 1_000);
  assert.ok(full < 1_000);
  const offset = Number(lost.summary.split('-')[1]);
  assert.ok(offset > 0);
  lost.stop();
  assert.is(stream.yieldWithinWindow(full, 1_000), full);
  stream.read({ attempt: 1, offset });
  assert.ok(stream.yieldWithinWindow(full, 1_000) >= full + offset);
});

// The record has their number: a reader with more was refused by the next leader (found by the simulation).
readers('chunks of an attempt whose end is being written are not passed on', () => {
  const stream = new StreamHarness();
  const { leader, job, attempt } = stream;
  const reader = stream.read();
  stream.yield(0, 2);
  stream.worker.disconnect();
  leader.heldWrites = [];
  leader.advance(60_000);
  const streams = [{ job, attempt, first: 2, next: 5 }];
  stream.worker = leader.worker({ held: [{ job, attempt }], streams });
  stream.yield(2, 3);
  assert.is(reader.summary, '0-2');
  while (leader.heldWrites.length > 0) leader.completeWrite();
  assert.is(reader.summary, '0-2, reset');
});

readers('the stream of an ended job goes with its result, behind any number that stay', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 2_000 });
  const streaming = { streaming: 'response', stream: DEFAULT_STREAM } as const;
  const end = (keepMs: number, name: string, jobs: number): void => {
    const policy = { ...policyOf('one', { doneMs: keepMs, deadMs: keepMs }), ...streaming };
    const client = new FakeClient(harness, name, 't1', policy);
    const before = worker.assigned().length;
    for (let i = 0; i < jobs; i += 1) client.submit('x');
    for (const one of worker.assigned().slice(before)) worker.succeed(one);
  };
  end(1e9, 'ann', 1_100);
  end(1_000, 'bob', 3);
  // State without another view: the streams that the leader holds.
  const { streams } = (harness.leader as unknown as { streams: { streams: Map<number, unknown> } }).streams;
  assert.is(streams.size, 1_103);
  harness.advanceWithHeartbeats(2_000, worker);
  assert.is(streams.size, 1_100);
});

readers.run();
