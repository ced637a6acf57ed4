import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { JobExplanation, WaitReason } from '#src/protocol/client/explain-messages.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness, nth } from '../leader-harness.js';

const explainer = suite('job explainer');
const POLICY = { ...policyOf('one', { doneMs: 1e6, deadMs: 1e6 }), ordered: true } as const;

function explain(client: FakeClient, job: number): JobExplanation {
  const answer = client.call({ kind: 'explain', job });
  if (answer?.kind !== 'explained') throw new Error(JSON.stringify(answer));
  return answer.explanation;
}

function only(client: FakeClient, job: number, kind: WaitReason['kind']): WaitReason | undefined {
  return explain(client, job).reasons.find((reason) => reason.kind === kind);
}

function rig(): { harness: LeaderHarness; client: FakeClient } {
  const harness = new LeaderHarness({ limits: { clientRunningMax: 3 } });
  return { harness, client: new FakeClient(harness, 'ann', 't1', POLICY) };
}

/** The numbers of a reason. */
function ofKind(client: FakeClient, job: number, kind: WaitReason['kind']): Record<string, unknown> {
  return { ...only(client, job, kind) };
}

explainer('names the missing worker, its labels and its feature', () => {
  const { harness, client } = rig();
  client.write({ kind: 'define', ref: 2, policy: { ...POLICY, requires: ['gpu'] } });
  client.submit('1', { ref: 2 });
  harness.worker();
  const needed = { workers: 1, serveExec: 1, quiet: 0, requires: ['gpu'], feature: '' };
  assert.equal(explain(client, 1).reasons, [{ kind: 'no-worker', ...needed }]);
});

explainer('names the workers that an operator has made quiet', () => {
  const { harness, client } = rig();
  harness.worker({ name: 'w' });
  client.call({ kind: 'worker-quiet', worker: 'w', quiet: true });
  client.submit('1');
  const needed = { workers: 1, serveExec: 1, quiet: 1, requires: [], feature: '' };
  assert.equal(explain(client, 1).reasons, [{ kind: 'no-worker', ...needed }]);
  client.call({ kind: 'worker-quiet', worker: 'w', quiet: false });
  assert.is(explain(client, 1).state, 'running');
});

explainer('names the delay, and no estimate is shorter', () => {
  const { harness, client } = rig();
  harness.worker();
  client.submit('1', { delayMs: 700 });
  harness.advance(200);
  const { reasons, estimateMs } = explain(client, 1);
  assert.equal(reasons, [{ kind: 'delayed', dueAt: 1_000_000_700, leftMs: 500 }]);
  assert.is(estimateMs, 500);
});

explainer('names a pause with its author, and gives no estimate', () => {
  const { harness, client } = rig();
  harness.worker();
  client.call({ kind: 'queue-mode', queue: 'g/one', mode: 'paused' });
  client.submit('1');
  const { reasons, estimateMs } = explain(client, 1);
  assert.equal(reasons, [{ kind: 'paused', queue: 'g/one', since: 1_000_000_000, by: 'ann' }]);
  assert.is(estimateMs, undefined);
});

explainer('names limits and rates with their numbers', () => {
  const { harness, client } = rig();
  const rate = { jobs: 1, perMs: 1_000 };
  client.call({ kind: 'queue-limits', queue: 'g/one', limits: { runningMax: 1, rate } });
  const worker = harness.worker({ slots: 4 });
  for (const text of ['1', '2']) client.submit(text);
  assert.equal(only(client, 2, 'running-max'), { kind: 'running-max', queue: 'g/one', running: 1, max: 1 });
  worker.succeed(nth(worker.assigned(), 0));
  assert.equal(only(client, 2, 'rate'), { kind: 'rate', of: 'queue', queue: 'g/one', rate, leftMs: 1_000 });
});

explainer('names the jobs that hold its order key, and those before it', () => {
  const { harness, client } = rig();
  harness.worker({ slots: 4 });
  for (const text of ['1', '2', '3']) client.submit(text, { orderKey: 'a' });
  const expected = { kind: 'order-key', orderKey: 'a', holders: [1], max: 1, ahead: 1 };
  assert.equal(explain(client, 3).reasons, [expected]);
  assert.is(explain(client, 1).state, 'running');
});

explainer('names the limits and the pause of all queues together', () => {
  const { harness, client } = rig();
  client.call({ kind: 'queue-limits', queue: '*', limits: { runningMax: 1 } });
  harness.worker({ slots: 4 });
  for (const text of ['1', '2']) client.submit(text);
  assert.equal(explain(client, 2).reasons, [{ kind: 'running-max', queue: '*', running: 1, max: 1 }]);
  client.call({ kind: 'queue-mode', queue: '*', mode: 'paused' });
  assert.is(ofKind(client, 2, 'paused').queue, '*');
});

explainer('the rate of a key is that of the start of this job, and no estimate is shorter', () => {
  const { harness, client } = rig();
  const keyRate = { jobs: 1, perMs: 10_000 };
  client.call({ kind: 'queue-limits', queue: 'g/one', limits: { keyRate, keyRunningMax: 9 } });
  const worker = harness.worker({ slots: 4 });
  for (const text of ['1', '2', '3', '4']) client.submit(text, { orderKey: 'a' });
  worker.succeed(nth(worker.assigned(), 0));
  harness.advance(300);
  const rate = { kind: 'rate', of: 'key', queue: 'g/one', rate: keyRate };
  assert.equal(only(client, 2, 'rate'), { ...rate, leftMs: 9_700 });
  assert.equal(only(client, 4, 'rate'), { ...rate, leftMs: 29_700 });
  assert.is(explain(client, 4).estimateMs, 29_700);
});

explainer(
  'cancelled jobs are not ahead, neither in the lane nor behind the key, and do not wait in the queue',
  () => {
    const { harness, client } = rig();
    client.call({ kind: 'queue-mode', queue: 'g/one', mode: 'paused' });
    for (const text of ['1', '2', '3']) client.submit(text);
    for (const text of ['4', '5', '6', '7']) client.submit(text, { orderKey: 'a' });
    client.submit('8', { delayMs: 5_000 });
    assert.is(ofKind(client, 3, 'ahead').ofTenant, 2);
    assert.is(ofKind(client, 7, 'order-key').ahead, 2);
    for (const job of [1, 5, 8]) client.call({ kind: 'cancel', job, reason: '' });
    assert.is(ofKind(client, 3, 'ahead').ofTenant, 1);
    assert.is(ofKind(client, 7, 'order-key').ahead, 1);
    const waiting = (): unknown => {
      const answer = client.call({ kind: 'queues' });
      return answer?.kind === 'queues' && answer.queues.map((view) => [view.waiting, view.behindKeys]);
    };
    assert.equal(waiting(), [[5, 2]]);
    client.call({ kind: 'queue-mode', queue: 'g/one', mode: 'open' });
    const worker = harness.worker({ slots: 8 });
    for (let done = 0; done < 5; done += 1) worker.succeed(nth(worker.assigned(), done));
    assert.equal(waiting(), [[0, 0]]);
  },
);

explainer('a job whose cancel is written while its entry is met is counted once', () => {
  const { harness, client } = rig();
  for (const orderKey of [undefined, 'a']) {
    const first = client.submit('1', { orderKey })?.jobs[0] ?? 0;
    client.submit('2', { orderKey });
    client.submit('3', { orderKey });
    harness.heldWrites = [];
    for (const job of [first, first + 1]) {
      client.call({ kind: 'cancel', job, reason: '' });
      assert.equal(explain(client, job).reasons[0], { kind: 'being-written' });
    }
    // The dispatch of this turn meets the entries.
    const worker = harness.worker({ slots: 8, name: `w${first}` });
    for (const write of harness.heldWrites.splice(0)) write();
    harness.heldWrites = undefined;
    harness.settle();
    for (const attempt of worker.assigned()) worker.succeed(attempt);
    const answer = client.call({ kind: 'queues' });
    assert.equal(answer?.kind === 'queues' && answer.queues.map(({ waiting }) => waiting), [0]);
    worker.disconnect();
    harness.advance(2_000);
  }
});

explainer('names a leader that shuts down, and gives no estimate', () => {
  const { harness, client } = rig();
  harness.worker();
  client.submit('1', { delayMs: 700 });
  harness.leader.drain();
  const { reasons, estimateMs } = explain(client, 1);
  assert.equal(reasons.slice(1), [{ kind: 'leader-draining' }]);
  assert.is(estimateMs, undefined);
});

explainer('names the quarantine of a job, the reason of a cancel, and the worker that runs it', () => {
  const { harness, client } = rig();
  for (const text of ['1', '2', '3']) client.submit(text);
  for (let crash = 0; explain(client, 1).state !== 'dead' && crash < 20; crash += 1) {
    harness.worker({ slots: 1, incarnation: `${crash}` }).disconnect();
    harness.advance(2_000);
  }
  client.call({ kind: 'cancel', job: 2, reason: 'wrong list' });
  harness.advance(60_000);
  harness.worker({ name: 'last' });
  const states = [1, 2, 3]
    .map((job) => explain(client, job))
    .map(({ state, detail }) => `${state} ${detail}`);
  assert.equal(states, ['dead quarantined', 'cancelled wrong list', 'running last~1']);
});

explainer('names the limit of its tenant, busy workers, and the jobs ahead of it', () => {
  const { harness, client } = rig();
  const bob = harness.client('bob', 't2');
  client.write({ kind: 'define', ref: 2, policy: { ...POLICY, priority: 9 } });
  const worker = harness.worker({ slots: 3 });
  for (let i = 0; i < 5; i += 1) client.submit(`${i}`);
  bob.submit('bob');
  client.submit('high', { ref: 2 });
  const { reasons } = explain(client, 5);
  assert.equal(reasons, [
    { kind: 'tenant-max', tenant: 'ann', running: 3, max: 3 },
    { kind: 'ahead', ofTenant: 1, ofOthers: 1, ofHigherPriority: 1, priority: 4, level: 4 },
    { kind: 'no-credit', eligible: 1, slots: 3, running: 3 },
  ]);
  worker.succeed(nth(worker.assigned(), 0));
  harness.advance(300);
  assert.ok((explain(client, 5).estimateMs ?? 0) > 0, 'jobs have begun');
});

explainer('a job that is next has no reason, and one that another may not see is unknown', () => {
  const { harness, client } = rig();
  client.submit('1');
  const access = { identity: 'x', permits: () => false, owns: () => false };
  const stranger = harness.client('x/c', 't3', access);
  assert.equal(stranger.call({ kind: 'explain', job: 1 }), { kind: 'unknown', job: 1 });
  assert.equal(client.call({ kind: 'explain', job: 99 }), { kind: 'unknown', job: 99 });
});

explainer.run();
