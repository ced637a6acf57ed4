import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { JobPolicy } from '#src/job/definition/job-policy.js';
import { DEFAULT_RETRY } from '#src/job/definition/retry-policy.js';
import type { AdminAnswer } from '#src/protocol/client/admin-messages.js';
import { policyOf } from '../../../ledger/random-records.js';
import { type FakeClient, type FakeWorker, LeaderHarness, nth } from '../../leader-harness.js';

const limits = suite('limits of queues');
const KEEP = { doneMs: 1e6, deadMs: 1e6 };

function payloads(worker: FakeWorker): string[] {
  return worker.assigned().map(({ payload }) => String(payload));
}

function define(client: FakeClient, ref: number, policy: Partial<JobPolicy>): void {
  client.write({ kind: 'define', ref, policy: { ...policyOf('one', KEEP), ...policy } });
}

limits(
  'a queue has at most runningMax attempts, counted also from before the limit and over a restart',
  () => {
    const harness = new LeaderHarness();
    const client = harness.client();
    for (const text of ['1', '2', '3']) client.submit(text);
    const worker = harness.worker({ slots: 2 });
    client.call({ kind: 'queue-limits', queue: 'g/one', limits: { runningMax: 2 } });
    worker.report([], 5);
    const more = harness.worker({ name: 'w2', slots: 5 });
    assert.is(more.assigned().length, 0, 'two attempts are under way');
    const restarted = harness.restarted();
    const held = worker.assigned().map(({ job, attempt }) => ({ job, attempt }));
    const again = restarted.worker({ slots: 5, held });
    assert.is(again.assigned().length, 0);
    again.succeed(nth(worker.assigned(), 0));
    assert.equal(payloads(again), ['3']);
  },
);

limits('all queues together have at most runningMax attempts', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { exec: 'two' });
  client.call({ kind: 'queue-limits', queue: '*', limits: { runningMax: 3 } });
  for (const ref of [1, 2, 1, 2]) client.submit(`${ref}`, { ref });
  const worker = harness.worker({ slots: 8, execs: ['one', 'two'] });
  assert.is(worker.assigned().length, 3);
  worker.succeed(nth(worker.assigned(), 0));
  assert.is(worker.assigned().length, 4);
});

limits('a paused queue starts nothing, over a restart too, and others go on', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { exec: 'two' });
  client.call({ kind: 'queue-mode', queue: 'g/one', mode: 'paused' });
  client.submit('held');
  client.submit('other', { ref: 2 });
  const worker = harness.worker({ slots: 8, execs: ['one', 'two'] });
  assert.equal(payloads(worker), ['other']);
  const restarted = harness.restarted();
  const next = restarted.worker({ name: 'w2', slots: 8, execs: ['one'] });
  assert.equal(payloads(next), []);
  restarted.client('bob', 't2').call({ kind: 'queue-mode', queue: 'g/one', mode: 'open' });
  assert.equal(payloads(next), ['held']);
});

limits('a draining queue refuses submits and runs the jobs it has', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.submit('before');
  client.call({ kind: 'queue-mode', queue: 'g/one', mode: 'draining' });
  const refused = client.submit('after')?.refusal;
  assert.is(refused?.code, 'ERR_QUEUE_DRAINING');
  assert.ok((refused?.retryAfterMs ?? 0) > 0);
  assert.equal(payloads(harness.worker()), ['before']);
  client.call({ kind: 'queue-mode', queue: 'g/one', mode: 'open' });
  assert.is(client.submit('again')?.refusal, undefined);
});

limits('a rate spaces starts, begins full when it is set and empty after a restart', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.call({
    kind: 'queue-limits',
    queue: 'g/one',
    limits: { rate: { jobs: 10, perMs: 1_000, burst: 2 } },
  });
  for (let i = 0; i < 6; i += 1) client.submit(`${i}`);
  const worker = harness.worker({ slots: 8 });
  assert.is(worker.assigned().length, 2);
  harness.advanceWithHeartbeats(100, worker);
  assert.is(worker.assigned().length, 3);
  const restarted = harness.restarted();
  const next = restarted.worker({ name: 'w2', slots: 8 });
  assert.is(next.assigned().length, 0, 'no second burst');
  restarted.advanceWithHeartbeats(200, next);
  assert.is(next.assigned().length, 2);
});

limits('a bad limit or name is refused with its reason, and no record is written', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const before = harness.log.entries.length;
  const bad: [string, object][] = [
    ['g/one', { runningMax: 0 }],
    ['g/one', { runningMax: -3 }],
    ['g/one', { rate: { jobs: 1 } }],
    ['g/one', { rate: { jobs: 1, perMs: 0 } }],
    ['g/one', { surprise: 1 }],
    ['*', { keyRunningMax: 2 }],
    ['no queue!', { runningMax: 1 }],
  ];
  for (const [queue, given] of bad) {
    const answer = client.call({ kind: 'queue-limits', queue, limits: given });
    assert.equal(
      answer?.kind === 'refused' ? answer.code : answer,
      'ERR_QUEUE_INVALID',
      JSON.stringify([queue, given]),
    );
  }
  assert.is(harness.log.entries.length, before);
});

limits('limits and modes are set for a bounded number of queues', () => {
  const client = new LeaderHarness().client();
  const limit = (no: number): AdminAnswer | undefined =>
    client.call({ kind: 'queue-limits', queue: `g/x${no}`, limits: { runningMax: 1 } });
  for (let no = 1; no <= 1_024; no += 1) assert.is(limit(no)?.kind, 'queue');
  const refused = limit(1_025);
  assert.is(refused?.kind === 'refused' && refused.code, 'ERR_QUEUES_FULL');
  assert.is(limit(1)?.kind, 'queue', 'one of them can still be changed');
});

limits('an identity needs the right to change a queue, and one for all of them', () => {
  const harness = new LeaderHarness();
  const allowed = new Set(['job.admin.g']);
  const access = { identity: 'x', permits: (_a: string, on: string) => allowed.has(on), owns: () => true };
  const client = harness.client('x/c', 't1', access);
  assert.equal(client.call({ kind: 'queue-mode', queue: '*', mode: 'paused' }), {
    kind: 'forbidden',
    needed: 'admin on leader.admin',
  });
  assert.is(client.call({ kind: 'queue-mode', queue: 'g/one', mode: 'paused' })?.kind, 'queue');
});

limits('priorities go across clients and execs, and tenants take turns inside one', () => {
  const harness = new LeaderHarness();
  const [ann, bob] = [harness.client('ann', 't1'), harness.client('bob', 't2')];
  define(ann, 2, { exec: 'two', priority: 9 });
  for (const text of ['ann 1', 'ann 2']) ann.submit(text);
  bob.submit('bob 1');
  ann.submit('first', { ref: 2 });
  const worker = harness.worker({ slots: 8, execs: ['one', 'two'] });
  assert.equal(payloads(worker), ['first', 'ann 1', 'bob 1', 'ann 2']);
});

limits('a class that has aged takes turns with the highest', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { priority: 0 });
  define(client, 3, { priority: 9 });
  for (let i = 0; i < 3; i += 1) client.submit(`low ${i}`, { ref: 2 });
  harness.advance(89_000);
  for (let i = 0; i < 3; i += 1) client.submit(`high ${i}`, { ref: 3 });
  const young = harness.worker({ name: 'young', slots: 1 });
  assert.equal(payloads(young), ['high 0'], 'after 89 s it counts as 8');
  harness.advance(2_000);
  const worker = harness.worker({ name: 'old', slots: 5 });
  assert.equal(payloads(worker), ['low 0', 'high 1', 'low 1', 'high 2', 'low 2']);
});

limits('a redriven job waits since its redrive, over a restart too: it does not lift its class', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { priority: 0, retry: { ...DEFAULT_RETRY, attempts: 1 } });
  define(client, 3, { priority: 9 });
  client.submit('low', { ref: 2 });
  const worker = harness.worker({ slots: 1 });
  worker.fail(nth(worker.assigned(), 0));
  harness.advance(95_000);
  client.call({ kind: 'redrive', jobs: [1] });
  for (const text of ['high 0', 'high 1']) client.submit(text, { ref: 3 });
  const restarted = harness.restarted();
  assert.equal(payloads(restarted.worker({ name: 'young', slots: 1 })), ['high 0']);
  restarted.advance(200);
  assert.equal(payloads(restarted.worker({ slots: 2 })), ['high 1', 'low']);
});

limits('a job that no worker can run does not lift the others of its priority', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { priority: 0, requires: ['gpu'] });
  define(client, 3, { priority: 0 });
  define(client, 4, { priority: 9 });
  client.submit('without a worker', { ref: 2 });
  harness.advance(95_000);
  client.submit('high 0', { ref: 4 });
  harness.worker({ name: 'busy', slots: 1 });
  harness.advance(200);
  client.submit('low', { ref: 3 });
  for (const text of ['high 1', 'high 2']) client.submit(text, { ref: 4 });
  assert.equal(payloads(harness.worker({ name: 'free', slots: 3 })), ['high 1', 'high 2', 'low']);
});

limits('a label that the leader does not know is refused, and nothing is accepted', () => {
  const harness = new LeaderHarness({ labels: ['gpu', 'eu'] });
  const client = harness.client();
  define(client, 2, { requires: ['gpu'] });
  define(client, 3, { requires: ['gpu', 'gpv'] });
  client.submit('known', { ref: 2 });
  const { code, problem } = client.submit('unknown', { ref: 3 })?.refusal ?? {};
  assert.equal(
    [code, problem, harness.leader.overview().accepted],
    ['ERR_EXEC_UNSUPPORTED', "this leader cannot: label 'gpv' is unknown, its labels are gpu, eu", 1],
  );
});

limits('tenants take turns by identity: another name gives no further turn', () => {
  const harness = new LeaderHarness();
  const access = (identity: string) => ({ identity, permits: () => true, owns: () => true });
  const open = (identity: string, name: string): FakeClient =>
    harness.client(`${identity}/${name}`, `t${name}`, access(identity));
  const [a1, a2, b] = [open('a', '1'), open('a', '2'), open('b', '3')];
  for (const [client, text] of [
    [a1, 'a1'],
    [a2, 'a2'],
    [b, 'b1'],
    [b, 'b2'],
  ] as const)
    client.submit(text);
  assert.equal(payloads(harness.worker({ slots: 4 })), ['a1', 'b1', 'a2', 'b2']);
});

limits('a job that has not begun in time is cancelled as expired, and its successors go on', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { startWithinMs: 300, ordered: true });
  client.submit('late', { ref: 2, orderKey: 'a' });
  client.submit('later', { ref: 2, orderKey: 'a', delayMs: 200 });
  harness.advance(299);
  assert.equal(client.outcomes(), []);
  harness.advance(1);
  assert.equal(
    client.outcomes().map(({ job, state, reason }) => [job, state, reason]),
    [[1, 'cancelled', 'expired']],
  );
  assert.equal(payloads(harness.worker()), ['later']);
  harness.advance(1_000);
  assert.is(client.outcomes().length, 1, 'an attempt that has begun does not expire');
});

limits('a job whose record took longer than its time does not begin', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { startWithinMs: 300 });
  harness.heldWrites = [];
  client.submit('late', { ref: 2 });
  harness.advance(400);
  const worker = harness.worker();
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.equal(payloads(worker), []);
  assert.equal(
    client.outcomes().map(({ job, state, reason }) => [job, state, reason]),
    [[1, 'cancelled', 'expired']],
  );
});

limits('a deadline counts over a restart', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { startWithinMs: 300 });
  client.submit('late', { ref: 2 });
  harness.advance(200);
  const restarted = harness.restarted();
  restarted.advance(200);
  assert.is(restarted.counts()['cancelled'], 1);
});

limits('only a worker with all labels gets a job that requires them, and the job holds up no other', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { requires: ['eu', 'gpu'] });
  client.submit('special', { ref: 2 });
  client.submit('plain');
  const workers = [[], ['gpu'], ['eu', 'gpu', 'x']].map((labels, i) =>
    harness.worker({ name: `w${i}`, labels }),
  );
  assert.equal(workers.map(payloads), [['plain'], [], ['special']]);
});

limits('a snoozed attempt counts as no failure, and a code of stopOn ends the job', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  define(client, 2, { retry: { ...policyOf('one').retry, attempts: 2, stopOn: ['E_GONE'] } });
  client.submit('job', { ref: 2 });
  const worker = harness.worker();
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    assert.is(worker.assigned().length, attempt);
    worker.report([{ outcome: 'snoozed', job: 1, attempt, delayMs: 1_000 }]);
    harness.advanceWithHeartbeats(900, worker);
    assert.is(worker.assigned().length, attempt, 'not before its time');
    harness.advanceWithHeartbeats(200, worker);
  }
  const failure = { name: 'Error', code: 'E_GONE', message: 'gone' };
  worker.report([{ outcome: 'failed', job: 1, attempt: 5, failure }]);
  assert.equal(
    client.outcomes().map(({ state, reason }) => [state, reason]),
    [['dead', 'final']],
  );
});

limits.run();
