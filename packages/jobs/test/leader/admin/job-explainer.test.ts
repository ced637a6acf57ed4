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
