import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { JobPolicy } from '#src/job/definition/job-policy.js';
import { DEFAULT_RETRY } from '#src/job/definition/retry-policy.js';
import { policyOf } from '../../../ledger/random-records.js';
import { FakeClient, type FakeWorker, LeaderHarness, nth } from '../../leader-harness.js';

const keys = suite('order keys');
const POLICY: JobPolicy = {
  ...policyOf('one', { doneMs: 1e6, deadMs: 1e6 }),
  ordered: true,
  retry: { ...DEFAULT_RETRY, attempts: 2, baseMs: 500, jitter: 0 },
};
const failure = { name: 'Error', message: 'no' };

function rig(submits: readonly string[]): { harness: LeaderHarness; client: FakeClient; worker: FakeWorker } {
  const harness = new LeaderHarness();
  const client = new FakeClient(harness, 'ann', 't1', POLICY);
  for (const text of submits) client.submit(text, { orderKey: text.split(' ')[0] ?? '' });
  return { harness, client, worker: harness.worker({ slots: 8 }) };
}

function payloads(worker: FakeWorker): string[] {
  return worker.assigned().map(({ payload, attempt }) => `${String(payload)}.${attempt}`);
}

function fail(worker: FakeWorker, at: number): void {
  const { job, attempt } = nth(worker.assigned(), at);
  worker.report([{ outcome: 'failed', job, attempt, failure }]);
}

keys('jobs of one key run one by one in their order, and keys do not wait for each other', () => {
  const { worker } = rig(['a 1', 'a 2', 'b 1', 'a 3']);
  assert.equal(payloads(worker), ['a 1.1', 'b 1.1']);
  worker.succeed(nth(worker.assigned(), 0));
  assert.equal(payloads(worker).slice(2), ['a 2.1']);
  worker.succeed(nth(worker.assigned(), 2));
  assert.equal(payloads(worker).slice(3), ['a 3.1']);
});

keys('a retry holds up its successors, also after a restart of the leader', () => {
  const { harness, worker } = rig(['a 1', 'a 2']);
  fail(worker, 0);
  assert.equal(payloads(worker), ['a 1.1'], 'the successor does not begin during the delay');
  const restarted = harness.restarted();
  const next = restarted.worker({ name: 'w2', slots: 8 });
  assert.equal(payloads(next), []);
  restarted.advance(600);
  assert.equal(payloads(next), ['a 1.2']);
  next.succeed(nth(next.assigned(), 0));
  assert.equal(payloads(next), ['a 1.2', 'a 2.1']);
});

keys('a dead letter frees its key, and goes first when it is redriven', () => {
  const { harness, client, worker } = rig(['a 1', 'a 2', 'a 3']);
  fail(worker, 0);
  harness.advanceWithHeartbeats(600, worker);
  fail(worker, 1);
  assert.equal(payloads(worker), ['a 1.1', 'a 1.2', 'a 2.1']);
  client.call({ kind: 'redrive', jobs: [1] });
  assert.is(worker.assigned().length, 3, 'it waits for the key');
  worker.succeed(nth(worker.assigned(), 2));
  assert.equal(payloads(worker).slice(3), ['a 1.3']);
  worker.succeed(nth(worker.assigned(), 3));
  assert.equal(payloads(worker).slice(4), ['a 3.1']);
});

keys('a returned job keeps its key from a redriven one, after a restart of the leader too', () => {
  const { harness, client, worker } = rig(['a 1', 'a 2']);
  fail(worker, 0);
  harness.advanceWithHeartbeats(600, worker);
  fail(worker, 1);
  const { job, attempt } = nth(worker.assigned(), 2);
  client.call({ kind: 'queue-mode', queue: 'g/one', mode: 'paused' });
  worker.report([{ outcome: 'released', job, attempt }]);
  client.call({ kind: 'redrive', jobs: [1] });
  const restarted = harness.restarted();
  const next = restarted.worker({ name: 'w2', slots: 8 });
  restarted.client().call({ kind: 'queue-mode', queue: 'g/one', mode: 'open' });
  assert.equal(payloads(next), ['a 2.2']);
  next.succeed(nth(next.assigned(), 0));
  assert.equal(payloads(next), ['a 2.2', 'a 1.3']);
});

keys('cancelling a job that waits between attempts frees its key; one in the line is skipped', () => {
  const { client, worker } = rig(['a 1', 'a 2', 'a 3']);
  fail(worker, 0);
  client.call({ kind: 'cancel', job: 2, reason: '' });
  assert.equal(payloads(worker), ['a 1.1']);
  client.call({ kind: 'cancel', job: 1, reason: '' });
  assert.equal(payloads(worker), ['a 1.1', 'a 3.1']);
});

keys('a limit above one lets so many jobs of a key run at once, and survives a restart', () => {
  const { harness, client, worker } = rig(['a 1', 'a 2', 'a 3', 'a 4']);
  client.call({ kind: 'queue-limits', queue: 'g/one', limits: { keyRunningMax: 2 } });
  assert.equal(payloads(worker), ['a 1.1', 'a 2.1']);
  const restarted = harness.restarted();
  const held = worker.assigned().map(({ job, attempt }) => ({ job, attempt }));
  const again = restarted.worker({ slots: 8, held });
  assert.equal(payloads(again), [], 'two still run');
  again.succeed(nth(worker.assigned(), 1));
  assert.equal(payloads(again), ['a 3.1']);
});

keys('a rate of a key spaces the starts of its jobs, and another key has its own', () => {
  const harness = new LeaderHarness();
  const client = new FakeClient(harness, 'ann', 't1', POLICY);
  const limits = { keyRate: { jobs: 1, perMs: 1_000 }, keyRunningMax: 5 };
  client.call({ kind: 'queue-limits', queue: 'g/one', limits });
  for (const text of ['a 1', 'a 2', 'b 1']) client.submit(text, { orderKey: text[0] ?? '' });
  const worker = harness.worker({ slots: 8 });
  assert.equal(payloads(worker), ['a 1.1', 'b 1.1']);
  harness.advanceWithHeartbeats(900, worker);
  assert.is(worker.assigned().length, 2);
  harness.advanceWithHeartbeats(200, worker);
  assert.equal(payloads(worker).slice(2), ['a 2.1']);
});

keys('keys of two identities are independent', () => {
  const harness = new LeaderHarness();
  const clients = ['x', 'y'].map((identity) => harness.keyedClient(identity));
  for (const client of clients) client.submit('1', { orderKey: 'a' });
  assert.is(harness.worker({ slots: 8 }).assigned().length, 2);
});

keys('a job with a delay joins the line when it is due', () => {
  const harness = new LeaderHarness();
  const client = new FakeClient(harness, 'ann', 't1', POLICY);
  client.submit('late', { orderKey: 'a', delayMs: 500 });
  client.submit('first', { orderKey: 'a' });
  const worker = harness.worker({ slots: 8 });
  harness.advanceWithHeartbeats(600, worker);
  assert.equal(payloads(worker), ['first.1']);
  worker.succeed(nth(worker.assigned(), 0));
  assert.equal(payloads(worker), ['first.1', 'late.1']);
});

keys('the worker of the job before is preferred where the policy is sticky', () => {
  const harness = new LeaderHarness();
  const client = new FakeClient(harness, 'ann', 't1', { ...POLICY, sticky: true });
  const workers = ['w1', 'w2', 'w3'].map((name) => harness.worker({ name, slots: 4 }));
  const ran: string[] = [];
  for (let i = 0; i < 6; i += 1) {
    client.submit(`${i}`, { orderKey: 'a' });
    const worker = workers.find((one) => one.assigned().some(({ payload }) => payload === `${i}`));
    ran.push(worker?.session.worker ?? '');
    worker?.succeed(nth(worker.assigned(), worker.assigned().length - 1));
  }
  assert.is(new Set(ran).size, 1, ran.join());
});

keys.run();
