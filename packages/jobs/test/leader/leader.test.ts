import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { policyOf } from '../ledger/random-records.js';
import { FakeClient, LeaderHarness, nth } from './leader-harness.js';

const leaders = suite('leader');

leaders('a draining leader refuses new work, and running attempts still end', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.submit('x');
  const worker = harness.worker({ slots: 1 });
  harness.leader.drain();
  assert.is(client.submit('y')?.refusal?.code, 'ERR_LEADER_DRAINING');
  worker.succeed(nth(worker.assigned(), 0));
  assert.is(client.outcomes().length, 1);
});

leaders('a failed write ends the leader before any submit of it is answered', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  harness.failJournal = true;
  assert.is(client.submit('x'), undefined);
  harness.failJournal = false;
  assert.is(client.submit('y'), undefined);
  assert.equal(
    harness.fatal.map((error) => (error as { code?: string }).code),
    ['ERR_JOURNAL_FAILED'],
  );
  assert.is(harness.leader.ledger.accepted, 0);
});

for (const disk of ['low', 'slow'] as const) {
  leaders(`while the disk is ${disk}, submits are refused, and ends, cancels and reads go on`, () => {
    const harness = new LeaderHarness();
    const client = harness.client();
    const worker = harness.worker({ slots: 1 });
    for (const text of ['done', 'cancelled']) client.submit(text);
    harness.disk(disk);
    assert.match(String(client.submit('refused')?.refusal?.code), /^ERR_DISK_/);
    worker.succeed(nth(worker.assigned(), 0));
    client.write({ kind: 'call', call: 1, request: { kind: 'cancel', job: 2, reason: '' } });
    client.write({ kind: 'call', call: 2, request: { kind: 'inspect', job: 1 } });
    assert.equal(
      client.outcomes().map(({ job, state }) => `${job} ${state}`),
      ['1 done', '2 cancelled'],
    );
    const answers = client.received.flatMap((one) => (one.kind === 'answer' ? [one.answer.kind] : []));
    assert.equal(answers, ['cancelled', 'job']);
    harness.disk('ok');
    assert.is(client.submit('accepted')?.refusal, undefined);
  });
}

// Half a second of work must not displace results that are about to be read.
leaders('100,000 results are kept by default, and the log states the limit', () => {
  const harness = new LeaderHarness();
  assert.ok(harness.leader.ledger.limits.resultsMax >= 100_000);
  assert.is(harness.restarted().leader.ledger.limits.resultsMax, harness.leader.ledger.limits.resultsMax);
  const { limits } = harness.leader.ledger;
  assert.equal(
    harness.records().flatMap((record) => (record.type === 'limits' ? [record.resultsMax] : [])),
    [limits.resultsMax],
    'the log says so from its beginning',
  );
});

leaders('a leader whose journal another process has opened answers nothing more, and ends', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.submit('a');
  const before = client.received.length;
  harness.isOwner = false;
  client.write({ kind: 'await', jobs: [7] });
  assert.is(client.received.length, before);
  assert.is(harness.fatal.length, 1);
  assert.match(String(harness.fatal[0]?.message), /another process/);
});

leaders('nothing leaves with an append that was durable before another process opened the journal', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const worker = harness.worker({ slots: 1 });
  client.submit('a');
  harness.heldWrites = [];
  worker.succeed(nth(worker.assigned(), 0));
  const before = [client.received.length, worker.received.length];
  harness.isOwner = false;
  harness.completeWrite();
  assert.equal([client.received.length, worker.received.length], before);
  assert.match(String(harness.fatal[0]?.message), /another process/);
});

leaders(
  'the refusal of a session carries no answer of a leader whose journal another process has opened',
  () => {
    const harness = new LeaderHarness();
    const worker = harness.worker({ slots: 1 });
    const before = worker.received.length;
    harness.isOwner = false;
    const late = { outcome: 'ok', job: 7, attempt: 1, result: '1' } as const;
    const report = { kind: 'report', credit: { jobs: 1e6, bytes: 0 }, cpu: 0, lagMs: 0, runMs: 0 } as const;
    harness.leader.fromWorker(worker.session, { ...report, credit: { jobs: 0, bytes: 0 }, ends: [late] });
    harness.leader.fromWorker(worker.session, { ...report, ends: [] });
    harness.settle();
    assert.not(worker.session.open);
    assert.is(worker.received.length, before);
    assert.is(harness.fatal.length, 1);
  },
);

const HOUR_MS = 3_600_000;

for (const stepMs of [-10 * 365 * 24 * HOUR_MS, -HOUR_MS, -1_000, 1_000, HOUR_MS]) {
  leaders(`delays and retries are as long as requested when the wall clock is set by ${stepMs} ms`, () => {
    const harness = new LeaderHarness();
    const worker = harness.worker({ slots: 4 });
    const client = harness.client();
    client.submit('delayed before', { delayMs: 500 });
    harness.wallStepMs = stepMs;
    client.submit('delayed after', { delayMs: 500 });
    client.submit('retried');
    worker.fail(nth(worker.assigned(), 0));
    const texts = (): string[] => worker.assigned().map((one) => `${String(one.payload)} ${one.attempt}`);
    harness.advanceWithHeartbeats(400, worker);
    assert.equal(texts(), ['retried 1'], 'nothing early');
    harness.advanceWithHeartbeats(200, worker);
    assert.equal(texts().sort(), ['delayed after 1', 'delayed before 1', 'retried 1']);
    harness.advanceWithHeartbeats(1_000, worker);
    assert.ok(texts().includes('retried 2'));
  });
}

// The clock of the machine ran an hour fast, was set right, and the leader started again.
leaders('after a restart with the clock set back no delay is longer than requested', () => {
  const before = new LeaderHarness();
  before.wallStepMs = HOUR_MS;
  const fast = before.restarted();
  const client = fast.client();
  client.submit('old', { delayMs: 500 });
  fast.wallStepMs = 0;
  const harness = fast.restarted();
  harness.client('bob').submit('new', { delayMs: 100 });
  const worker = harness.worker({ slots: 4 });
  harness.advanceWithHeartbeats(600, worker);
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['new', 'old'],
  );
});

leaders('a delay goes on while no leader runs', () => {
  const before = new LeaderHarness();
  before.client().submit('x', { delayMs: 5_000 });
  before.now += 4_900;
  const harness = before.restarted();
  const worker = harness.worker();
  harness.advanceWithHeartbeats(200, worker);
  assert.is(worker.assigned().length, 1);
});

leaders('results and keys expire on time when the wall clock is set back', () => {
  const harness = new LeaderHarness({ limits: { keyWindowMs: 2_000 } });
  const worker = harness.worker();
  const client = new FakeClient(harness, 'ann', 't1', policyOf('one', { doneMs: 500, deadMs: 500 }));
  client.submit('x', { key: 'k' });
  worker.succeed(nth(worker.assigned(), 0));
  harness.wallStepMs = -HOUR_MS;
  harness.advanceWithHeartbeats(900, worker);
  assert.is(harness.leader.ledger.counts.done, 0);
  harness.advanceWithHeartbeats(1_500, worker);
  assert.is(harness.leader.ledger.keys.size, 0);
});

leaders.run();
