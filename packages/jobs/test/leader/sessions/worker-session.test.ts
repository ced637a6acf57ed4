import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BATCH_JOBS_MAX } from '#src/protocol/worker/run-time-estimate.js';
import type { Assignment } from '#src/protocol/worker/worker-messages.js';
import { LeaderHarness } from '../leader-harness.js';

const sessions = suite('worker session');

sessions('attempts with consecutive numbers are acknowledged as one range, others one by one', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 64 });
  const client = harness.client();
  for (let i = 0; i < 6; i += 1) client.submit('x');
  const [a, b, c, d, e, f] = worker.assigned();
  const ends = [a, b, c, e, d, f].map((one) => one as Assignment);
  worker.report(ends.map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result: '1' })));
  harness.advanceWithHeartbeats(1_000, worker);
  const first = (a as Assignment).job;
  assert.equal(worker.acknowledged(), [
    { job: first, attempt: 1, count: 3 },
    { job: first + 4, attempt: 1, count: 1 },
    { job: first + 3, attempt: 1, count: 1 },
    { job: first + 5, attempt: 1, count: 1 },
  ]);
});

sessions('acknowledgements wait for the next batch of assignments, unless their results are large', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: BATCH_JOBS_MAX });
  const client = harness.client();
  const acknowledged = (): number => worker.acknowledged().reduce((sum, { count }) => sum + count, 0);
  const runBatch = (result: string): void => {
    const before = worker.assigned().length;
    for (let i = 0; i < BATCH_JOBS_MAX; i += 1) client.submit('x');
    const ends = worker.assigned().slice(before);
    worker.report(ends.map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result })));
  };
  runBatch('1');
  assert.is(acknowledged(), 0);
  runBatch('2');
  assert.is(acknowledged(), BATCH_JOBS_MAX);
  harness.advanceWithHeartbeats(1_000, worker);
  assert.is(acknowledged(), 2 * BATCH_JOBS_MAX, 'or for the answer to a heartbeat');
  runBatch('x'.repeat(1_000));
  assert.is(acknowledged(), 3 * BATCH_JOBS_MAX, 'the worker keeps every result until then');
});

sessions('a worker whose slots are all held by overrunning handlers gets no job until one ends', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 2 });
  const report = (overrun: number): void => {
    // Short jobs have earned it the credit of a batch, beyond its slots.
    const credit = { jobs: 50, bytes: 1_000_000 };
    const message = { kind: 'report', ends: [], credit, cpu: 0, lagMs: 0, overrun } as const;
    harness.leader.fromWorker(worker.session, message);
    harness.settle();
  };
  report(2);
  harness.client().submit('x');
  assert.is(worker.assigned().length, 0);
  report(1);
  assert.is(worker.assigned().length, 1);
});

sessions.run();
