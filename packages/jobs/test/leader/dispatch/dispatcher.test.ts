import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_STREAM } from '#src/job/definition/stream-policy.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness, nth } from '../leader-harness.js';

const dispatchers = suite('dispatcher');

// Either may come first, and credit is a number, not a flag.
dispatchers('credit is kept while no job waits and spent when one comes', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 2 });
  const client = harness.client();
  for (const text of ['1', '2', '3']) client.submit(text);
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['1', '2'],
  );
  worker.succeed(nth(worker.assigned(), 0));
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['1', '2', '3'],
  );
});

// The decision and the spending are one step, so many jobs in one turn never exceed the credit.
dispatchers('a worker never gets more jobs than it has granted', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  for (let i = 0; i < 50; i += 1) client.submit(`${i}`);
  const worker = harness.worker({ slots: 3 });
  assert.is(worker.assigned().length, 3);
  worker.report([]);
  assert.is(worker.assigned().length, 3);
});

// A worker of an earlier version, or in another language, would end a job without its chunks or its feed.
dispatchers('a job that streams or is fed waits for a worker that has named the feature', () => {
  const harness = new LeaderHarness();
  const streaming = { ...policyOf('one'), streaming: 'response', stream: DEFAULT_STREAM } as const;
  const { limits } = streaming;
  const fed = { ...streaming, limits: { ...limits, feedBytesMax: 1_000, feedGraceMs: 1_000 } };
  const client = new FakeClient(harness, 'ann', 't1', streaming);
  const other = new FakeClient(harness, 'bob', 't2', fed);
  client.submit('stream');
  other.submit('fed');
  const older = harness.worker({ name: 'w1', features: [] });
  const streams = harness.worker({ name: 'w2', features: ['streams'] });
  const feeds = harness.worker({ name: 'w3', features: ['streams', 'feeds'] });
  const payloads = (): string[][] =>
    [older, streams, feeds].map((worker) => worker.assigned().map(({ payload }) => String(payload)));
  assert.equal(payloads(), [[], ['stream'], ['fed']]);
  // A worker is chosen before the record of the job is durable.
  other.submit('fed again');
  assert.equal(payloads(), [[], ['stream'], ['fed', 'fed again']]);
  // They stop no job of the same exec that needs no feature.
  client.submit('stream again');
  client.submit('no slot');
  const plain = harness.client('eve', 't3');
  for (const text of ['a', 'b']) plain.submit(text);
  assert.equal(payloads(), [
    ['a', 'b'],
    ['stream', 'stream again'],
    ['fed', 'fed again'],
  ]);
});

// An attempt counts once against the limit of its client, however it ends.
dispatchers('a client at its limit gets its next job when one attempt ends, failed or not', () => {
  const harness = new LeaderHarness({ limits: { clientRunningMax: 1 } });
  const client = harness.client();
  const other = harness.client('bob', 't2');
  client.submit('a1');
  client.submit('a2');
  other.submit('b1');
  const worker = harness.worker({ slots: 5 });
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['a1', 'b1'],
  );
  worker.fail(nth(worker.assigned(), 0));
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['a1', 'b1', 'a2'],
  );
  harness.advanceWithHeartbeats(900, worker);
  worker.succeed(nth(worker.assigned(), 2));
  harness.advanceWithHeartbeats(200, worker);
  assert.is(nth(worker.assigned(), 3).payload, 'a1');
  assert.is(harness.restarted().leader.ledger.counts.running, 2);
});

dispatchers('a worker gets only jobs it has code for', () => {
  const harness = new LeaderHarness();
  new FakeClient(harness, 'ann', 't1', policyOf('two')).submit('x');
  const worker = harness.worker({ execs: ['one'] });
  assert.is(worker.assigned().length, 0);
  const able = harness.worker({ name: 'able', execs: ['one', 'two'] });
  assert.is(able.assigned().length, 1);
});

dispatchers('a job goes to a worker of its own group, whichever group came first', () => {
  for (const order of [
    ['g', 'other'],
    ['other', 'g'],
  ]) {
    const harness = new LeaderHarness();
    const ours = harness.worker({ name: 'ours', patterns: ['job.assign.g.*'] });
    const coder = harness.worker({ name: 'coder', execs: ['g/one'] });
    for (const group of order) {
      const client = new FakeClient(harness, group, 't1', { ...policyOf('one'), group });
      for (const n of [1, 2, 3]) client.submit(`${group} ${n}`);
    }
    const got = [...ours.assigned(), ...coder.assigned()].map((one) => String(one.payload));
    assert.equal(got.sort(), ['g 1', 'g 2', 'g 3'], `${order.join()}`);
    const theirs = harness.worker({ name: 'theirs', slots: 9, patterns: ['job.assign.other.>'] });
    assert.is(theirs.assigned().length, 3);
  }
});

dispatchers.run();
