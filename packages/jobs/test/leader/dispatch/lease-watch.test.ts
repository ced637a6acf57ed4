import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LeaderHarness, nth } from '../leader-harness.js';

const watches = suite('lease watch');

// A lease is no limit on the run time: heartbeats renew it, however long the job takes.
watches('a long job is not run again while its worker sends heartbeats', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.submit('long');
  const worker = harness.worker();
  for (let i = 0; i < 18; i += 1) {
    harness.advance(50);
    worker.report([]);
  }
  assert.is(worker.assigned().length, 1);
  assert.equal(harness.counts()['running'], 1);
});

watches('a worker that is silent for the lease loses the job, and its late report changes nothing', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.submit('x');
  const silent = harness.worker({ name: 'silent', slots: 1 });
  const attempt = nth(silent.assigned(), 0);
  // The lease is one second, but none is shorter than three heartbeats.
  harness.advance(2_900);
  assert.equal(silent.aborted(), []);
  harness.advance(600);
  assert.equal(silent.aborted(), [`${attempt.job}.1 fenced`]);
  const other = harness.worker({ name: 'other', slots: 1 });
  harness.advanceWithHeartbeats(2_000, other);
  assert.is(nth(other.assigned(), 0).attempt, 2);
  // The result of attempt 1 does not complete attempt 2.
  silent.succeed(attempt, '"stale"');
  assert.equal(harness.counts()['done'], 0);
  other.succeed(nth(other.assigned(), 0), '"fresh"');
  assert.equal(
    client.outcomes().map((one) => one.result),
    ['"fresh"'],
  );
});

watches(
  'a hung attempt is ended after its run time and the grace period, though its worker sends heartbeats',
  () => {
    const harness = new LeaderHarness({ times: { runGraceMs: 200 } });
    harness.client().submit('x');
    const worker = harness.worker({ slots: 1 });
    for (let i = 0; i < 30; i += 1) {
      harness.advance(50);
      worker.report([]);
    }
    assert.equal(worker.aborted().length, 1);
    assert.equal(harness.leader.ledger.jobs.get(1)?.failures, 1);
  },
);

// The leader received no heartbeat while it was stalled (ADR 0404).
watches('a stall of the leader does not count against a worker', () => {
  const harness = new LeaderHarness();
  harness.client().submit('x');
  const worker = harness.worker({ slots: 1 });
  harness.now += 30_000;
  harness.advance(300);
  worker.report([]);
  assert.equal([worker.aborted().length, harness.counts()['running']], [0, 1]);
});

watches('a job that crashes its workers is quarantined, and its crashes are counted over restarts', () => {
  let harness = new LeaderHarness();
  harness.client().submit('poison');
  for (let i = 1; i <= 5; i += 1) {
    const victim = harness.worker({ name: `v${i}`, slots: 1 });
    for (let waited = 0; victim.assigned().length === 0 && waited < 60; waited += 1)
      harness.advanceWithHeartbeats(1_000, victim);
    assert.is(nth(victim.assigned(), 0).attempt, i);
    victim.disconnect();
    harness.advance(1_500);
    if (i === 2) harness = harness.restarted();
  }
  const job = harness.leader.ledger.jobs.get(1);
  assert.equal([job?.state, job?.end?.reason, job?.crashes, job?.failures], ['dead', 'quarantined', 5, 0]);
});

watches.run();
