// No turn of the leader handles more than a bounded number of items, however much is due at once.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Leader } from '#src/leader/leader.js';
import { TURN_JOBS_MAX } from '#src/leader/options/leader-limits.js';
import { LEADER_OPTION_RULES } from '#src/leader/options/leader-option-rules.js';
import { Ledger, RECORD_EXPIRIES_MAX, TICK_EXPIRIES_MAX } from '#src/ledger/ledger.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import type { SubmitItem } from '#src/protocol/client/client-messages.js';
import { policyOf } from '../ledger/random-records.js';
import { LeaderHarness } from './leader-harness.js';

const turns = suite('bounded turns');

const START = 1_000_000_000;
const KEEP_MS = 5_000;

/** A log with so many done jobs, each with a key, and as many producers; all are due at one moment. */
function doneJobs(count: number): LedgerRecord[] {
  const at = START;
  const policy = policyOf('one', { doneMs: KEEP_MS, deadMs: KEEP_MS });
  const limits = { resultsMax: 250_000, resultsBytesMax: 1e9, keyWindowMs: KEEP_MS };
  const records: LedgerRecord[] = [
    { type: 'genesis', at, tag: 'abcde' },
    { type: 'limits', at, ...limits },
    { type: 'policy', at, no: 1, policy },
  ];
  for (let no = 1; no <= count; no += 1) {
    const submission = { job: no, policy: 1, dueAt: 0, key: `k${no}`, payload: 'x' };
    records.push(
      { type: 'producer', at, producer: no, client: 'ann', token: `t${no}` },
      { type: 'enqueue', at, producer: no, seq: 1, low: 0, ...submission },
      { type: 'assign', at, job: no, attempt: 1, worker: 'w~1' },
      { type: 'ack', at, job: no, attempt: 1, result: '1' },
    );
  }
  return records;
}

const JOBS = 3 * TICK_EXPIRIES_MAX + 7;

turns('one record drops a bounded number of what is due, and ticks drop all of it', () => {
  const ledger = new Ledger();
  for (const record of doneJobs(JOBS)) ledger.apply(record);
  const at = START + KEEP_MS;
  const left = (): number[] => [ledger.counts.done, ledger.keys.size, ledger.producers.size];
  ledger.apply({ type: 'policy_drop', at, policies: [] });
  assert.equal(
    left(),
    Array.from({ length: 3 }, () => JOBS - RECORD_EXPIRIES_MAX),
  );
  let before = ledger.counts.done;
  for (let ticks = 0; ledger.nextExpiryAt <= at; ticks += 1) {
    ledger.apply({ type: 'tick', at });
    assert.ok(before - ledger.counts.done <= TICK_EXPIRIES_MAX && ticks < 10);
    before = ledger.counts.done;
  }
  assert.equal(left(), [0, 0, 0]);
  assert.ok(ledger.balanced);
});

turns('a limit of results that was lowered is reached by several records', () => {
  const ledger = new Ledger();
  for (const record of doneJobs(JOBS)) ledger.apply(record);
  const limits = { resultsMax: 1, resultsBytesMax: 1e9, keyWindowMs: KEEP_MS };
  ledger.apply({ type: 'limits', at: START, ...limits });
  assert.is(ledger.counts.done, JOBS - TICK_EXPIRIES_MAX);
  assert.ok(ledger.nextExpiryAt <= START);
  while (ledger.nextExpiryAt <= START) ledger.apply({ type: 'tick', at: START });
  assert.is(ledger.counts.done, 1);
});

function harnessOf(records: readonly LedgerRecord[]): LeaderHarness {
  const limits = { resultsMax: 250_000, resultsBytesMax: 1e9, keyWindowMs: KEEP_MS };
  return new LeaderHarness({ limits, log: { entries: LeaderHarness.entriesOf(records) } });
}

turns('results that are due at once go in bounded ticks, and a replay of these gives the same', () => {
  const harness = harnessOf(doneJobs(JOBS));
  const before = harness.records().length;
  harness.advance(2 * KEEP_MS);
  assert.is(harness.leader.ledger.counts.done, 0);
  const ticks = harness.records().slice(before);
  assert.ok(ticks.length >= 4 && ticks.every(({ type }) => type === 'tick'), `${ticks.length} records`);
  assert.equal(harness.restarted().leader.ledger.counts, harness.leader.ledger.counts);
});

turns('a result and a key that are due are gone for every reader before they are dropped', () => {
  const harness = harnessOf(doneJobs(JOBS));
  const client = harness.client('bob', 'b');
  harness.heldWrites = [];
  harness.advance(KEEP_MS + 100);
  assert.is(harness.leader.ledger.counts.done, JOBS, 'no tick is durable');
  client.write({ kind: 'await', jobs: [JOBS] });
  client.write({ kind: 'call', call: 1, request: { kind: 'inspect', job: JOBS } });
  client.write({ kind: 'call', call: 2, request: { kind: 'list', state: 'done', after: 0, max: 5 } });
  assert.equal(
    client.outcomes().map(({ state }) => state),
    ['unknown'],
  );
  const answers = client.received.flatMap((one) => (one.kind === 'answer' ? [one.answer] : []));
  assert.equal(answers, [
    { kind: 'unknown', job: JOBS },
    { kind: 'jobs', views: [] },
  ]);
  client.submit('x', { key: `k${JOBS}` });
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.equal(
    client.receipts().map(({ jobs, duplicate }) => [jobs, duplicate]),
    [[[JOBS + 1], false]],
  );
});

function item(seq: number): SubmitItem {
  return { seq, ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };
}

turns('a worker with credit for many jobs gets them in several turns, and loses them in several', () => {
  const jobs = 10_000;
  const harness = new LeaderHarness();
  const client = harness.client();
  for (let at = 0; at < jobs; at += 1_000)
    client.write({
      kind: 'submit',
      low: at,
      items: Array.from({ length: 1_000 }, (_, i) => item(at + i + 1)),
    });
  const sizes: number[] = [];
  const before = harness.appends;
  const worker = harness.worker({ slots: jobs });
  for (const message of worker.received) if (message.kind === 'assign') sizes.push(message.items.length);
  assert.is(worker.assigned().length, jobs);
  assert.ok(Math.max(...sizes) <= TURN_JOBS_MAX && harness.appends - before >= 3, `${sizes}`);
  worker.disconnect();
  const appends = harness.appends;
  harness.advance(3_000);
  assert.is(harness.counts()['queued'], jobs);
  assert.ok(harness.appends - appends >= 4);
});

turns('records that wait for a slow disk are appended and applied in bounded batches', () => {
  const harness = new LeaderHarness({ limits: { outstandingMax: 100_000 } });
  const client = harness.client();
  harness.heldWrites = [];
  for (let at = 0; at < 20_000; at += 1_000)
    client.write({
      kind: 'submit',
      low: 0,
      items: Array.from({ length: 1_000 }, (_, i) => item(at + i + 1)),
    });
  let most = 0;
  while (harness.heldWrites.length > 0) {
    const accepted = harness.leader.ledger.accepted;
    harness.completeWrite();
    most = Math.max(most, harness.leader.ledger.accepted - accepted);
  }
  assert.equal([harness.leader.ledger.accepted, most <= TURN_JOBS_MAX], [20_000, true]);
});

function keyed(jobs: number): SubmitItem[] {
  return Array.from({ length: jobs }, (_, i) => ({ ...item(1), key: `k${i}` }));
}

turns('a batch has at most the jobs of one turn, and is applied beside no more than these', () => {
  const harness = new LeaderHarness({ limits: { outstandingMax: 100_000 } });
  const client = harness.client();
  harness.heldWrites = [];
  const submits = (from: number, count: number): void =>
    client.write({
      kind: 'submit',
      low: 0,
      items: Array.from({ length: count }, (_, i) => item(from + i)),
    });
  // From some appends on, records wait for the disk and are gathered.
  for (let seq = 2; seq <= 21; seq += 1) submits(seq, 1);
  submits(100, 1_000);
  client.write({ kind: 'submit_all', low: 0, seq: 1, items: keyed(TURN_JOBS_MAX) });
  submits(1_100, 1_000);
  let most = 0;
  while (harness.heldWrites.length > 0) {
    const { accepted } = harness.leader.ledger;
    harness.completeWrite();
    most = Math.max(most, harness.leader.ledger.accepted - accepted);
  }
  assert.equal([harness.leader.ledger.accepted, most], [TURN_JOBS_MAX + 2_020, TURN_JOBS_MAX]);
  client.write({ kind: 'submit_all', low: 0, seq: 9_000, items: keyed(TURN_JOBS_MAX + 1) });
  assert.equal(
    client.receipts().flatMap(({ seq, refusal }) => (refusal === undefined ? [] : [[seq, refusal.problem]])),
    [[9_000, `a batch of ${TURN_JOBS_MAX + 1} jobs, 1 to ${TURN_JOBS_MAX} are allowed`]],
  );
});

turns('no option makes a turn of the leader longer', () => {
  const rule = LEADER_OPTION_RULES.limits;
  assert.is(rule({ batchMax: TURN_JOBS_MAX }, 'limits'), undefined);
  assert.match(String(rule({ batchMax: TURN_JOBS_MAX + 1 }, 'limits')?.option), /batchMax/);
});

turns('a restart puts jobs back in slices', () => {
  const harness = new LeaderHarness({ limits: { outstandingMax: 100_000 } });
  const client = harness.client();
  for (let at = 0; at < 20_000; at += 1_000)
    client.write({
      kind: 'submit',
      low: at,
      items: Array.from({ length: 1_000 }, (_, i) => item(at + i + 1)),
    });
  const methods = Leader.prototype as unknown as { restoreSlice(): boolean };
  const original = methods.restoreSlice;
  let slices = 0;
  methods.restoreSlice = function restoreSlice(): boolean {
    slices += 1;
    return original.call(this);
  };
  try {
    const again = harness.restarted();
    assert.is(again.worker({ slots: 2 }).assigned().length, 2);
  } finally {
    methods.restoreSlice = original;
  }
  assert.ok(slices >= 3, `${slices} slices`);
});

turns.run();
