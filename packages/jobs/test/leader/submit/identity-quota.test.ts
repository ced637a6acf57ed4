import { SubmitQuota } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { JobPolicy } from '#src/job/definition/job-policy.js';
import { IdentityUsages } from '#src/ledger/identity-usage.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, type FakeWorker, LeaderHarness } from '../leader-harness.js';

// One identity fills its own part of a shared table, and no other identity notices.
const quotas = suite('identity quotas');

function refusalOf(client: FakeClient, payload: string, key = ''): string | undefined {
  return client.submit(payload, { key })?.refusal?.code;
}

/** Every job that the worker has becomes a dead letter. */
function killAll(worker: FakeWorker): void {
  let done = 0;
  for (let all = worker.assigned(); done < all.length; all = worker.assigned()) {
    const next = all[done];
    done += 1;
    if (next !== undefined) worker.failFinally(next);
  }
}

quotas('queued jobs and their bytes: an identity at its quota is refused, another is not', () => {
  for (const limits of [{ jobsPerIdentityMax: 2 }, { jobBytesPerIdentityMax: 10 }]) {
    const harness = new LeaderHarness({ limits });
    const [ann, bob] = [harness.keyedClient('ann'), harness.keyedClient('bob')];
    assert.equal([refusalOf(ann, 'xxxxx'), refusalOf(ann, 'yyyyy')], [undefined, undefined]);
    assert.is(refusalOf(ann, 'z'), 'ERR_QUEUE_FULL');
    assert.is(refusalOf(bob, 'z'), undefined);
    const again = harness.restarted();
    assert.is(refusalOf(again.keyedClient('ann', { token: 't2' }), 'z'), 'ERR_QUEUE_FULL');
  }
});

quotas('a batch counts with all its jobs, and with those that are not durable yet', () => {
  const harness = new LeaderHarness({ limits: { jobsPerIdentityMax: 4 } });
  const ann = harness.keyedClient('ann');
  const item = { seq: 1, ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };
  harness.heldWrites = [];
  ann.write({ kind: 'submit_all', low: 0, seq: 1, items: [item, item, item] });
  ann.write({ kind: 'submit_all', low: 0, seq: 2, items: [item, item] });
  while (harness.heldWrites.length > 0) harness.completeWrite();
  const codes = new Map(ann.receipts().map(({ seq, refusal }) => [seq, refusal?.code]));
  assert.equal([codes.get(1), codes.get(2)], [undefined, 'ERR_QUEUE_FULL']);
});

quotas('idempotency keys and producers have quotas of their own', () => {
  const harness = new LeaderHarness({ limits: { keysPerIdentityMax: 1, producersPerIdentityMax: 2 } });
  const [ann, bob] = [harness.keyedClient('ann'), harness.keyedClient('bob')];
  assert.is(refusalOf(ann, 'x', 'k1'), undefined);
  assert.is(refusalOf(ann, 'x', 'k2'), 'ERR_KEY_WINDOW_FULL');
  assert.equal([refusalOf(ann, 'x'), refusalOf(bob, 'x', 'k2')], [undefined, undefined]);
  assert.is(refusalOf(harness.keyedClient('ann', { token: 't2' }), 'x'), undefined);
  assert.is(refusalOf(harness.keyedClient('ann', { token: 't3' }), 'x'), 'ERR_PRODUCERS_FULL');
  assert.is(refusalOf(harness.keyedClient('bob', { token: 't3' }), 'x'), undefined);
});

quotas('job definitions have a quota; those of closed sessions make room', () => {
  const harness = new LeaderHarness({ limits: { policiesPerIdentityMax: 2 } });
  const define = (client: FakeClient, ref: number): JobPolicy => {
    const policy = policyOf(`exec${ref}`, { doneMs: 1e6, deadMs: 1e6 });
    client.write({ kind: 'define', ref, policy });
    return policy;
  };
  const ann = harness.keyedClient('ann');
  define(ann, 2);
  define(ann, 3);
  const item = { seq: 9, ref: 3, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };
  ann.write({ kind: 'submit', low: 0, items: [item] });
  assert.is(ann.receipts().at(-1)?.refusal?.code, 'ERR_POLICIES_FULL');
  const bob = harness.keyedClient('bob');
  define(bob, 3);
  bob.write({ kind: 'submit', low: 0, items: [item] });
  assert.is(bob.receipts().at(-1)?.refusal, undefined);
  harness.leader.closed(ann.session);
  const back = harness.keyedClient('ann', { token: 't2' });
  define(back, 4);
  back.write({ kind: 'submit', low: 0, items: [{ ...item, ref: 4 }] });
  assert.is(back.receipts().at(-1)?.refusal, undefined);
});

quotas('a full dead-letter queue refuses the identity that fills it and no other', () => {
  const harness = new LeaderHarness({ limits: { deadMax: 6 } });
  const worker = harness.worker({ slots: 20 });
  const [ann, bob] = [harness.keyedClient('ann'), harness.keyedClient('bob')];
  for (let i = 0; i < 5; i += 1) ann.submit('x');
  bob.submit('x');
  killAll(worker);
  assert.is(harness.counts()['dead'], 6);
  assert.equal([refusalOf(ann, 'y'), refusalOf(bob, 'y')], ['ERR_DEAD_LETTERS_FULL', undefined]);
  const eve = harness.keyedClient('eve');
  assert.is(refusalOf(eve, 'y'), undefined, 'it has no dead letter');
  const again = harness.restarted();
  assert.is(refusalOf(again.keyedClient('ann', { token: 't2' }), 'y'), 'ERR_DEAD_LETTERS_FULL');
});

quotas('without keys a full dead-letter queue refuses the exec that fills it and no other', () => {
  const harness = new LeaderHarness({ limits: { deadMax: 6 } });
  const worker = harness.worker({ slots: 20, execs: ['one', 'two'] });
  const failing = harness.client('ann', 't1');
  const healthy = new FakeClient(harness, 'ann', 't2', policyOf('two', { doneMs: 1e6, deadMs: 1e6 }));
  for (let i = 0; i < 6; i += 1) failing.submit('x');
  killAll(worker);
  assert.equal([refusalOf(failing, 'y'), refusalOf(healthy, 'y')], ['ERR_DEAD_LETTERS_FULL', undefined]);
});

quotas('payloads of dead letters count as bytes, until they are redriven or purged', () => {
  const harness = new LeaderHarness({ limits: { deadBytesMax: 100 } });
  const worker = harness.worker({ slots: 20 });
  const client = harness.client();
  client.submit('x'.repeat(60));
  client.submit('x'.repeat(60));
  killAll(worker);
  assert.is(harness.leader.ledger.deadBytes, 120);
  assert.is(refusalOf(client, 'y'), 'ERR_DEAD_LETTERS_FULL');
  client.write({ kind: 'call', call: 1, request: { kind: 'purge', jobs: [1, 2] } });
  assert.is(harness.leader.ledger.deadBytes, 0);
  assert.is(refusalOf(client, 'y'), undefined);
});

quotas('dead letters and their bytes have a quota for each identity', () => {
  for (const limits of [{ deadPerIdentityMax: 2 }, { deadBytesPerIdentityMax: 2 }]) {
    const harness = new LeaderHarness({ limits });
    const worker = harness.worker({ slots: 20 });
    const [ann, bob] = [harness.keyedClient('ann'), harness.keyedClient('bob')];
    for (let i = 0; i < 2; i += 1) ann.submit('x');
    killAll(worker);
    assert.equal([refusalOf(ann, 'y'), refusalOf(bob, 'y')], ['ERR_DEAD_LETTERS_FULL', undefined]);
  }
});

quotas('the submit rate counts jobs, those of a batch too, and refuses by receipt', () => {
  const harness = new LeaderHarness();
  const ann = harness.keyedClient('ann', { rate: new SubmitQuota(10, 5, 0) });
  const item = { seq: 1, ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };
  ann.write({ kind: 'submit_all', low: 0, seq: 1, items: [item, item, item, item, item] });
  ann.write({ kind: 'submit', low: 0, items: [{ ...item, seq: 2 }] });
  const last = ann.receipts().at(-1);
  assert.equal([last?.seq, last?.refusal?.code, last?.refusal?.retryAfterMs], [2, 'ERR_SUBMIT_RATE', 1_000]);
  ann.write({ kind: 'submit_all', low: 0, seq: 1, items: [item, item, item, item, item] });
  assert.is(ann.receipts().at(-1)?.duplicate, true, 'a repeated submit is not charged');
  harness.advance(100);
  ann.write({ kind: 'submit', low: 0, items: [{ ...item, seq: 2 }] });
  assert.is(ann.receipts().at(-1)?.refusal, undefined);
});

quotas('a worker never has more attempts than the credit that its connection announced', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 50, creditMax: 8 });
  const client = harness.client();
  for (let i = 0; i < 40; i += 1) client.submit(`${i}`);
  assert.is(worker.assigned().length, 8);
  worker.report(
    worker.assigned().map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result: '1' })),
    8,
    8 * 10,
  );
  assert.is(worker.assigned().length, 16);
});

quotas('the overview shows use and limit of every table, and identities that are near a quota', () => {
  const harness = new LeaderHarness({ limits: { jobsPerIdentityMax: 5, jobsMax: 9 } });
  const [ann, bob] = [harness.keyedClient('ann'), harness.keyedClient('bob')];
  for (let i = 0; i < 4; i += 1) ann.submit('xx');
  bob.submit('xx', { key: 'k' });
  const { tables, nearQuotas } = harness.leader.overview();
  assert.equal(tables.jobs, { used: 5, max: 9 });
  assert.equal([tables.jobBytes.used, tables.keys.used, tables.producers.used], [10, 1, 2]);
  assert.equal(nearQuotas, [{ identity: 'ann', table: 'jobs', used: 4, max: 5 }]);
});

quotas('an identity that uses nothing any more is forgotten', () => {
  const usages = new IdentityUsages();
  usages.addDead('ann/c', 'one', 3);
  usages.removeDead('ann/c', 'one', 3);
  assert.equal(
    [...usages.entries()].map(([identity]) => identity),
    [''],
  );
  assert.is(usages.deadHolders, 0);
});

quotas.run();
