import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AttemptRef } from '#src/protocol/worker/worker-messages.js';
import { LeaderHarness, nth } from '../leader-harness.js';

const attempts = suite('attempts');

attempts(
  'a worker that returns within its grace period keeps its job; afterwards the job runs elsewhere',
  () => {
    const harness = new LeaderHarness();
    const client = harness.client();
    client.submit('x');
    const first = harness.worker({ slots: 1 });
    const attempt = nth(first.assigned(), 0);
    first.disconnect();
    harness.advance(900);
    const again = harness.worker({ slots: 1, held: [attempt] });
    harness.advance(500);
    assert.equal([again.assigned().length, again.aborted().length], [0, 0]);
    again.disconnect();
    const other = harness.worker({ name: 'other', slots: 1 });
    harness.advance(1_300);
    const taken = nth(other.assigned(), 0);
    assert.equal([taken.job, taken.attempt], [attempt.job, 2]);
    const late = harness.worker({ slots: 1, held: [attempt] });
    assert.equal(late.aborted(), [`${attempt.job}.1 fenced`]);
  },
);

attempts('a worker that returns while the loss of its job is being written stops its attempt', () => {
  const harness = new LeaderHarness();
  harness.client().submit('x');
  const first = harness.worker({ slots: 1 });
  const attempt = nth(first.assigned(), 0);
  first.disconnect();
  harness.heldWrites = [];
  harness.advance(1_300);
  const again = harness.worker({ slots: 1, held: [attempt] });
  assert.equal(again.aborted(), [`${attempt.job}.1 fenced`]);
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.is(harness.leader.ledger.jobs.get(attempt.job)?.crashes, 1);
});

attempts('an assignment that a returning worker never received is requeued uncounted', () => {
  const harness = new LeaderHarness();
  harness.client().submit('x');
  const first = harness.worker({ slots: 1 });
  first.disconnect();
  const again = harness.worker({ slots: 1, held: [] });
  assert.is(nth(again.assigned(), 0).attempt, 2);
  const job = harness.leader.ledger.jobs.get(1);
  assert.equal([job?.failures, job?.crashes], [0, 0]);
});

// After a restart a lease has not expired: its worker may claim the attempt.
attempts(
  'after a restart of the leader a worker claims its job; an unclaimed one is released uncounted',
  () => {
    const before = new LeaderHarness();
    const client = before.client();
    client.submit('claimed');
    client.submit('unclaimed');
    const worker = before.worker({ slots: 2 });
    const [claimed] = worker.assigned();
    const harness = before.restarted();
    assert.is(harness.counts()['running'], 2);
    const again = harness.worker({ slots: 2, held: claimed === undefined ? [] : [claimed] });
    assert.is(nth(again.assigned(), 0).payload, 'unclaimed');
    again.succeed(nth([claimed], 0) as { job: number; attempt: number });
    assert.is(harness.counts()['done'], 1);
    const third = before.restarted();
    third.advance(9_000);
    assert.is(third.counts()['running'], 2);
    third.advance(1_500);
    assert.equal([third.counts()['queued'], third.leader.ledger.jobs.get(1)?.crashes], [2, 0]);
  },
);

// The lease exists before the assignment is written, so no report is too early.
attempts('an end that is reported at the moment of the assignment counts', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker();
  worker.onReceived = (message) => {
    if (message.kind === 'assign') for (const one of message.items) worker.succeed(one);
  };
  const client = harness.client();
  client.submit('x');
  client.submit('y');
  harness.advanceWithHeartbeats(3_000, worker);
  assert.equal(
    client.outcomes().map((one) => one.state),
    ['done', 'done'],
  );
  assert.equal(
    worker.assigned().map((one) => one.attempt),
    [1, 1],
  );
});

attempts('the end of an attempt is recorded before the next assignment of its job', () => {
  const harness = new LeaderHarness();
  const silent = harness.worker({ name: 'silent' });
  harness.client().submit('x');
  const healthy = harness.worker({ name: 'healthy' });
  harness.advanceWithHeartbeats(5_000, healthy);
  const third = healthy.assigned().at(-1);
  if (third !== undefined) healthy.fail(third);
  harness.advanceWithHeartbeats(5_000, healthy);
  assert.ok(silent.assigned().length === 1 && healthy.assigned().length >= 2);
  let running = 0;
  for (const record of harness.records()) {
    if (record.type === 'assign') {
      assert.is(running, 0, `attempt ${record.attempt} begins while ${running} runs`);
      running = record.attempt;
    } else if ('attempt' in record) {
      assert.is(record.attempt, running, record.type);
      running = 0;
    }
  }
});

attempts('the load and the failures that a worker reports are bounded', () => {
  const harness = new LeaderHarness();
  harness.client().submit('x');
  const worker = harness.worker({ slots: 1 });
  const { job, attempt } = nth(worker.assigned(), 0);
  const chain = {
    name: 'E',
    message: 'm',
    cause: { name: 'E', message: 'm', cause: { name: 'E', message: 'deep' } },
  };
  const failure = {
    name: 'E'.repeat(9_000),
    message: 'm'.repeat(100_000),
    stack: 's'.repeat(100_000),
    cause: { ...chain, cause: chain },
    secret: 'x',
  };
  const ends = [{ outcome: 'failed' as const, job, attempt, failure }];
  const credit = { jobs: 2, bytes: 1_000_000 };
  harness.leader.fromWorker(worker.session, { kind: 'report', ends, credit, cpu: Number.NaN, lagMs: -1 });
  harness.settle();
  const kept = harness.leader.ledger.jobs.get(job)?.failure;
  assert.equal([kept?.name.length, kept?.message.length, kept?.stack?.length], [4_001, 4_001, 2_001]);
  assert.equal(Object.keys(kept ?? {}), ['name', 'message', 'stack', 'cause']);
  assert.ok(!JSON.stringify(kept).includes('deep'), 'three causes are kept');
  harness.advanceWithHeartbeats(1_500, worker);
  assert.is(worker.assigned().length, 2);
});

attempts('an end of an attempt that is not running any more is answered as stale, not as recorded', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.submit('x');
  const worker = harness.worker({ slots: 1 });
  const attempt = nth(worker.assigned(), 0);
  const request = { kind: 'cancel', job: attempt.job, reason: 'wrong file' } as const;
  client.write({ kind: 'call', call: 1, request });
  const aborts = worker.received.flatMap((message) => (message.kind === 'abort' ? message.items : []));
  assert.equal(aborts, [{ ...attemptOf(attempt), reason: 'cancelled', detail: 'wrong file' }]);
  worker.succeed(attempt);
  assert.equal(worker.stale(), [`${attempt.job}.1`]);
  assert.is(harness.leader.ledger.jobs.get(attempt.job)?.state, 'cancelled');
});

attempts('a worker shows handlers that outlive their attempt, also before it can report them', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.submit('x');
  const worker = harness.worker({ slots: 2 });
  const { job, attempt } = nth(worker.assigned(), 0);
  const overrun = (): number | undefined => harness.leader.overview().workers[0]?.overrun;
  assert.is(overrun(), 0);
  client.write({ kind: 'call', call: 1, request: { kind: 'cancel', job, reason: '' } });
  assert.is(overrun(), 1);
  const report = { kind: 'report', credit: { jobs: 2, bytes: 1_000_000 }, cpu: 0, lagMs: 0 } as const;
  const end = {
    outcome: 'failed',
    job,
    attempt,
    failure: { name: 'Aborted', message: 'cancelled' },
  } as const;
  harness.leader.fromWorker(worker.session, { ...report, ends: [end], overrun: 1 });
  assert.is(overrun(), 1);
  harness.leader.fromWorker(worker.session, { ...report, ends: [], overrun: 0 });
  assert.is(overrun(), 0);
});

function attemptOf({ job, attempt }: AttemptRef): AttemptRef {
  return { job, attempt };
}

attempts.run();
