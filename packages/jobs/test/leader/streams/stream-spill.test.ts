import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SpillFailedError } from '#src/jobs-error.js';
import { CHUNK_BYTES, StreamHarness } from './stream-harness.js';

const spill = suite('spill of streams');

spill('without a reader chunks go to a file, and a late reader gets all of them in order', () => {
  const stream = new StreamHarness();
  assert.is(stream.yieldWithinWindow(0, 1_000), 1_000);
  assert.ok(stream.files > 0);
  const reader = stream.read();
  reader.consumeAll();
  assert.is(reader.summary, '0-1000');
  stream.done(1_000);
  assert.is(reader.summary, '0-1000, end');
});

spill('a reader that keeps up costs no file', () => {
  const stream = new StreamHarness();
  const reader = stream.read();
  for (let next = 0; next < 1_000; next += 50) {
    stream.yield(next, 50);
    reader.consumeAll();
  }
  assert.is(reader.summary, '0-1000');
  assert.is(stream.files, 0);
});

spill('a reader that is there and slow stops the worker of a response, not of an internal stream', () => {
  const response = new StreamHarness();
  response.read();
  assert.ok(response.yieldWithinWindow(0, 1_000) < 300);
  assert.is(response.files, 0);
  const internal = new StreamHarness({ streaming: 'internal' });
  const reader = internal.read();
  assert.is(internal.yieldWithinWindow(0, 1_000), 1_000);
  reader.consumeAll();
  assert.is(reader.summary, '0-1000');
});

spill('one slow reader of several falls behind to the files, and does not stop the others', () => {
  const stream = new StreamHarness();
  const [fast, slow] = [stream.read(), stream.read()];
  for (let next = 0; next < 1_000; next += 50) {
    assert.is(stream.yieldWithinWindow(next, next + 50), next + 50);
    fast.consumeAll();
  }
  assert.is(fast.summary, '0-1000');
  slow.consumeAll();
  assert.is(slow.summary, '0-1000');
});

spill('at its bound a response waits for its reader, and goes on with it', () => {
  const stream = new StreamHarness({ stream: { spillBytes: 256 * CHUNK_BYTES } });
  const sent = stream.yieldWithinWindow(0, 2_000);
  assert.ok(sent > 256 && sent < 600, `${sent} chunks were sent`);
  const reader = stream.read();
  reader.consumeAll();
  for (let next = sent; next < 2_000; next = stream.yieldWithinWindow(next, 2_000)) reader.consumeAll();
  reader.consumeAll();
  assert.is(reader.summary, '0-2000');
});

spill('at its bound an internal stream drops its oldest chunks: a gap with both numbers', () => {
  const stream = new StreamHarness({ streaming: 'internal', stream: { spillBytes: 256 * CHUNK_BYTES } });
  assert.is(stream.yieldWithinWindow(0, 2_000), 2_000);
  const reader = stream.read();
  reader.consumeAll();
  const [gap] = reader.items;
  assert.ok(gap?.kind === 'gap' && gap.from === 0 && (gap.to ?? 0) > 1_500);
  assert.match(reader.summary, /^gap 0-(\d+), \1-2000$/);
});

spill('files are bounded for an identity and in total; ended streams make room for others', () => {
  const bound = 512 * CHUNK_BYTES;
  const identity = new StreamHarness({ limits: { spillBytesPerIdentityMax: bound } });
  assert.ok(identity.yieldWithinWindow(0, 2_000) < 900);
  const total = new StreamHarness({ limits: { spillBytesMax: bound } });
  assert.ok(total.yieldWithinWindow(0, 2_000) < 900);
});

spill('old chunks go to a file, however few they are', () => {
  const stream = new StreamHarness();
  stream.yield(0, 3);
  assert.is(stream.files, 0);
  stream.leader.advanceWithHeartbeats(3_000, stream.worker);
  assert.is(stream.files, 1);
  const reader = stream.read();
  reader.consumeAll();
  assert.is(reader.summary, '0-3');
});

spill(
  'after a restart parts are read again, and the rest is a gap up to the next chunk of the worker',
  () => {
    const stream = new StreamHarness();
    stream.yieldWithinWindow(0, 100);
    stream.leader.spill.files.set(99, Buffer.from('no record names this file'));
    stream.restart({ produced: 130, acknowledged: 120 });
    assert.not.ok(stream.leader.spill.files.has(99));
    const reader = stream.read();
    stream.yield(120, 10);
    reader.consumeAll();
    const parts = /^0-(\d+), gap \1-120, 120-130$/.exec(reader.summary);
    assert.ok(Number(parts?.[1]) >= 60, reader.summary);
    stream.done(130);
    assert.match(reader.summary, /130, end$/);
  },
);

spill('after a restart the end of an attempt names its number of chunks', () => {
  const stream = new StreamHarness({ stream: { whenUnread: 'wait' } });
  stream.yield(0, 70);
  stream.done(70);
  stream.leader = stream.leader.restarted();
  stream.client = stream.leader.client('ann', 't2');
  assert.is(stream.read().summary, 'gap 0-70, end');
  assert.is(stream.read({ attempt: 1, offset: 40 }).summary, 'gap 40-70, end');
  assert.is(stream.read({ attempt: 1, offset: 71 }).summary, 'refused');
});

spill(
  'a reader of before two restarts goes on where the worker was lost before it sent its chunks again',
  () => {
    const stream = new StreamHarness({ stream: { whenUnread: 'wait' } });
    stream.yield(0, 6);
    stream.restart({ produced: 12, acknowledged: 4 });
    stream.worker.disconnect();
    stream.leader.advance(3_000);
    stream.leader = stream.leader.restarted();
    stream.client = stream.leader.client('ann', 't3');
    assert.is(
      stream.read({ attempt: 1, offset: 6 }).summary,
      '',
      'it waits for the next attempt, and is not refused',
    );
  },
);

spill('durable: a chunk is acknowledged when it is in a file, and survives a restart', () => {
  const stream = new StreamHarness({ stream: { durable: true } });
  stream.leader.heldWrites = [];
  stream.yield(0, 5);
  assert.is(stream.window?.taken, 0);
  stream.leader.completeWrite();
  assert.is(stream.window?.taken, 5);
  stream.leader.heldWrites = undefined;
  stream.yield(5, 30);
  const reader = stream.read();
  reader.consumeAll();
  assert.is(stream.window?.taken, 35);
  stream.restart({ produced: 40, acknowledged: 35 });
  const late = stream.read();
  stream.yield(35, 5);
  assert.is(late.summary, '0-40');
});

spill('no leader starts without the files of durable streams that are under way', () => {
  const spillError = new Error('EIO: no such disk');
  const plain = new StreamHarness();
  plain.yield(0, 5);
  assert.equal(plain.leader.restarted({ spillError }).fatal, [spillError], 'it goes on without files');
  const durable = new StreamHarness({ stream: { durable: true } });
  const refused = (error: unknown): boolean =>
    error instanceof SpillFailedError && error.code === 'ERR_SPILL_FAILED' && error.cause === spillError;
  assert.throws(() => durable.leader.restarted({ spillError }), refused);
  assert.throws(() => durable.leader.restarted({ hasSpill: false }), /this leader has none/);
  durable.yield(0, 1);
  durable.done(1);
  assert.equal(durable.leader.restarted({ spillError }).fatal, [spillError], 'none is under way');
});

spill('a write that fails is no end of the leader: a response waits, an internal stream has a gap', () => {
  for (const streaming of ['response', 'internal'] as const) {
    const stream = new StreamHarness({ streaming });
    stream.leader.spill.error = new Error('ENOSPC');
    const sent = stream.yieldWithinWindow(0, 1_000);
    assert.is(sent < 300, streaming === 'response');
    const reader = stream.read();
    reader.consumeAll();
    if (streaming === 'response') assert.is(reader.summary, `0-${sent}`);
    else assert.match(reader.summary, /^gap 0-(\d+), \1-1000$/);
    stream.leader.spill.error = undefined;
    stream.leader.advanceWithHeartbeats(6_000, stream.worker);
    reader.stop();
    assert.is(stream.yieldWithinWindow(sent, sent + 1_000), sent + 1_000);
    assert.equal(stream.leader.fatal, []);
  }
});

spill('a part that is damaged or gone is a gap', () => {
  const stream = new StreamHarness();
  stream.yieldWithinWindow(0, 400);
  const [[file, bytes] = [0, new Uint8Array(0)]] = [...stream.leader.spill.files];
  bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
  const reader = stream.read();
  reader.consumeAll();
  assert.match(reader.summary, /^gap 0-(\d+), \1-400$/);
  stream.leader.spill.files.delete(file);
  const other = stream.read();
  other.consumeAll();
  assert.match(other.summary, /^(gap \d+-\d+, )+\d+-400$/);
});

spill('a new attempt makes the parts of the old one void', () => {
  const stream = new StreamHarness();
  stream.yieldWithinWindow(0, 300);
  const reader = stream.read();
  const failure = { name: 'Error', message: 'again' };
  stream.worker.report([{ outcome: 'failed', job: stream.job, attempt: 1, failure, chunks: 300 }]);
  stream.leader.advanceWithHeartbeats(20_000, stream.worker);
  stream.attempt = 2;
  stream.yield(0, 10);
  assert.ok(reader.summary.endsWith('reset, 0-10'), reader.summary);
  stream.done(10);
  const late = stream.read({ attempt: 1, offset: 5 });
  late.consumeAll();
  assert.is(late.summary, 'reset, 0-10, end');
});

spill('files go with the retention of the result, by records', () => {
  const stream = new StreamHarness({ keep: { doneMs: 60_000, deadMs: 60_000 } });
  const end = stream.yieldWithinWindow(0, 9_000);
  assert.is(end, 9_000);
  const before = stream.files;
  assert.ok(before > 1);
  stream.done(9_000);
  stream.leader.advanceWithHeartbeats(50_000, stream.worker);
  assert.is(stream.files, before);
  stream.leader.advanceWithHeartbeats(20_000, stream.worker);
  const dropped = stream.leader
    .records()
    .flatMap((record) => (record.type === 'spill_drop' ? record.files : []));
  assert.is(stream.files + dropped.length, before);
  assert.ok(stream.files <= 1, 'only the file that is written next is left');
});

spill('a leader whose files may have no byte keeps chunks in memory, and the worker waits', () => {
  const stream = new StreamHarness({ limits: { spillBytesMax: 0 } });
  assert.ok(stream.yieldWithinWindow(0, 1_000) < 300);
});

spill.run();
