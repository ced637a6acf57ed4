import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { decodeRecords, encodeRecord } from '#src/ledger/codec/ledger-record-codec.js';
import { encodeSnapshot, loadChunk } from '#src/ledger/codec/ledger-snapshot-codec.js';
import { IdentityUsages } from '#src/ledger/identity-usage.js';
import { KeyWindow } from '#src/ledger/key-window.js';
import { Ledger } from '#src/ledger/ledger.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import { firstRecords, nextRecord } from './random-records.js';

const ledgers = suite('ledger');
const limits = { resultsMax: 5, resultsBytesMax: 100, keyWindowMs: 400 };

function snapshotOf(ledger: Ledger): string {
  return [...encodeSnapshot(ledger)].map((chunk) => Buffer.from(chunk).toString('hex')).join('/');
}

function reload(ledger: Ledger): Ledger {
  const again = new Ledger(limits);
  for (const chunk of encodeSnapshot(ledger)) loadChunk(again, chunk);
  return again;
}

/** Applies random records; returns the ledger and the records. */
function applyRandom(
  random: readonly (readonly [number, number, number, number])[],
): [Ledger, LedgerRecord[]] {
  const live = new Ledger(limits);
  const records: LedgerRecord[] = [];
  let at = 1;
  let seq = 1;
  const step = (record: LedgerRecord): void => {
    records.push(record);
    live.apply(record);
    assert.ok(live.balanced, `after ${record.type}`);
    assert.ok(
      live.ended.size <= limits.resultsMax && live.resultBytes <= limits.resultsBytesMax,
      'retention is bounded',
    );
    assert.is(live.dead.size, live.counts.dead, 'one entry for each dead letter');
  };
  firstRecords().forEach(step);
  for (const [wait, ...three] of random) {
    at += Math.floor(wait * 100);
    const record = nextRecord(live, at, seq, three);
    if (record.type === 'enqueue' || record.type === 'enqueue_all') seq += 1;
    step(record);
  }
  return [live, records];
}

const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const histories = fc.array(fc.tuple(unit, unit, unit, unit), { minLength: 20, maxLength: 150, size: 'max' });

// Replay runs the same `apply`, and accepted = queued + running + done + dead + cancelled + dropped after
// every record.
ledgers('replaying the log gives the live state byte for byte, and the counts always add up', () => {
  void fc.assert(
    fc.property(histories, (random) => {
      const [live, records] = applyRandom(random);
      const out = new ByteWriter();
      for (const record of records) encodeRecord(record, out);
      const replayed = new Ledger(limits);
      decodeRecords(out.take(), (record) => replayed.apply(record));
      assert.is(snapshotOf(replayed), snapshotOf(live));
    }),
    { numRuns: 200 },
  );
});

ledgers('a snapshot and the records after it give the same state as all the records', () => {
  void fc.assert(
    fc.property(histories, unit, (random, where) => {
      const [live, records] = applyRandom(random);
      const cut = Math.max(4, Math.floor(where * records.length));
      const half = new Ledger(limits);
      for (const record of records.slice(0, cut)) half.apply(record);
      const again = reload(half);
      for (const record of records.slice(cut)) again.apply(record);
      assert.is(snapshotOf(again), snapshotOf(live));
      assert.ok(again.balanced);
    }),
    { numRuns: 200 },
  );
});

/** The use of every identity, counted anew. */
function recounted(ledger: Ledger): unknown {
  const usages = new IdentityUsages();
  for (const { client } of ledger.producers.values()) usages.of(client).producers += 1;
  for (const { client, state, policy, payload } of ledger.jobs.values()) {
    if (state === 'dead') usages.addDead(client, policy.exec, payload.length);
    if (state !== 'queued' && state !== 'running') continue;
    usages.of(client).jobs += 1;
    usages.of(client).jobBytes += payload.length;
  }
  return usages;
}

ledgers('the use of every identity is that of its jobs and producers, also after a snapshot', () => {
  void fc.assert(
    fc.property(histories, (random) => {
      const [live] = applyRandom(random);
      assert.equal(live.usages, recounted(live));
      assert.equal(reload(live).usages, recounted(live));
    }),
    { numRuns: 100 },
  );
});

const corrupt = (error: unknown) => (error as { code?: string }).code === 'ERR_LEDGER_CORRUPT';

function started(...records: LedgerRecord[]): Ledger {
  const ledger = new Ledger(limits);
  for (const record of [...firstRecords(), ...records]) ledger.apply(record);
  return ledger;
}

const enqueue: LedgerRecord = {
  type: 'enqueue',
  at: 2,
  producer: 1,
  seq: 1,
  low: 0,
  job: 1,
  policy: 1,
  dueAt: 0,
  key: '',
  payload: 'x',
};
const assign: LedgerRecord = { type: 'assign', at: 3, job: 1, attempt: 1, worker: 'w~1' };
const ack: LedgerRecord = { type: 'ack', at: 4, job: 1, attempt: 1, result: '1' };

ledgers('a transition that the life cycle forbids is an error', () => {
  assert.throws(() => started(assign), corrupt, 'assign of nothing');
  assert.throws(() => started(enqueue, enqueue), corrupt, 'enqueue twice');
  assert.throws(() => started(enqueue, ack), corrupt, 'ack of a queued job');
  assert.throws(() => started(enqueue, assign, assign), corrupt, 'assign twice');
  assert.throws(() => started(enqueue, assign, { ...ack, attempt: 2 }), corrupt, 'ack of another attempt');
  assert.throws(() => started(enqueue, assign, ack, ack), corrupt, 'two outcomes');
  assert.throws(() => started(enqueue, assign, ack, { type: 'cancel', at: 5, job: 1, reason: '' }), corrupt);
  assert.throws(() => started({ ...enqueue, policy: 9 }), corrupt, 'unknown policy');
  assert.throws(() => started({ type: 'genesis', at: 2, tag: 'again' }), corrupt);
});

ledgers('the attempt number grows over every kind of requeue, and each kind counts as itself', () => {
  const ledger = started(enqueue);
  const ends = ['retry', 'timeout_requeue', 'worker_down_requeue', 'release'] as const;
  ends.forEach((type, i) => {
    ledger.apply({ type: 'assign', at: 5, job: 1, attempt: i + 1, worker: 'w~1' });
    ledger.apply({ type, at: 5, job: 1, attempt: i + 1, dueAt: 0, failure: undefined });
  });
  const job = ledger.jobs.get(1);
  assert.equal([job?.attempt, job?.failures, job?.crashes, job?.state], [4, 2, 1, 'queued']);
});

ledgers('a redriven dead letter has new counts and keeps its attempt number', () => {
  const ledger = started(enqueue, assign, {
    type: 'dlq',
    at: 4,
    job: 1,
    attempt: 1,
    reason: 'failed',
    failure: undefined,
  });
  assert.is(ledger.counts.dead, 1);
  ledger.apply({ type: 'redrive', at: 5, jobs: [1] });
  assert.is(ledger.dead.size, 0, 'its retention is over');
  const job = ledger.jobs.get(1);
  assert.equal([job?.state, job?.attempt, job?.failures, job?.payload], ['queued', 1, 0, 'x']);
});

ledgers('a trace context is kept until its job has ended for good, over a snapshot and a redrive', () => {
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'v=1' };
  const ledger = started({ ...enqueue, trace }, { ...enqueue, seq: 2, job: 2 });
  assert.equal([ledger.traceOf(1), ledger.traceOf(2)], [trace, undefined]);
  const again = reload(ledger);
  assert.equal([again.traceOf(1), again.traceOf(2)], [trace, undefined]);
  again.apply({ type: 'assign', at: 3, job: 1, attempt: 1, worker: 'w~1' });
  again.apply({ type: 'dlq', at: 4, job: 1, attempt: 1, reason: 'failed', failure: undefined });
  again.apply({ type: 'redrive', at: 5, jobs: [1] });
  assert.equal(again.traceOf(1), trace);
  again.apply({ type: 'cancel', at: 6, job: 1, reason: '' });
  assert.is(again.traces.size, 0);
});

// The window is a function of the records, so a restart does not change it.
ledgers('a key is kept for its window, over a snapshot too', () => {
  const ledger = started({ ...enqueue, key: 'k' });
  assert.is(reload(ledger).keys.get('one/k')?.job, 1);
  ledger.apply({ type: 'tick', at: 2 + 399 });
  assert.is(ledger.keys.get('one/k')?.job, 1);
  ledger.apply({ type: 'tick', at: 2 + 400 });
  assert.is(ledger.keys.get('one/k'), undefined);
});

ledgers('a producer keeps the job of every submit whose receipt has not arrived', () => {
  const ledger = started(enqueue, { ...enqueue, seq: 3, job: 2 }, { ...enqueue, seq: 4, job: 3, low: 1 });
  const numbers = [1, 2, 3, 4, 5].map((seq) => ledger.producers.get(1)?.jobOf(seq));
  assert.equal(numbers, [-1, 0, 2, 3, 0]);
  assert.equal(
    [1, 2, 3, 4].map((seq) => reload(ledger).producers.get(1)?.jobOf(seq)),
    [-1, 0, 2, 3],
  );
});

ledgers('keys that are freed and used again leave no entries behind', () => {
  const keys = new KeyWindow();
  for (let job = 1; job <= 1_000; job += 1) {
    keys.add({ key: 'k', job, hash: 0, expiresAt: job });
    keys.free('k', job - 1);
    assert.is(keys.get('k')?.job, job);
    keys.free('k', job);
    assert.is(keys.get('k'), undefined);
  }
  keys.add({ key: 'k', job: 1_001, hash: 0, expiresAt: 1_001 });
  assert.equal(
    [...keys.entries()].map((entry) => entry.job),
    [1_001],
  );
  assert.ok(keys.nextAt > 900, 'freed entries are gone');
});

ledgers('no map of the key window holds more than a part of its keys', () => {
  const keys = new KeyWindow();
  for (let job = 1; job <= 64_000; job += 1)
    keys.add({ key: `team\none/k${job}`, job, hash: 0, expiresAt: job });
  const { shards } = keys as unknown as { shards: readonly ReadonlyMap<string, unknown>[] };
  const largest = Math.max(...shards.map(({ size }) => size));
  assert.ok(largest <= 2_000, `${largest}`);
  assert.equal([keys.size, keys.countOf('team')], [64_000, 64_000]);
});

// A freed key must not count as one that expired: a ledger from a snapshot never had it.
ledgers('keys that were freed do not change how many a record expires', () => {
  const expiredBy = (ledger: Ledger): number => {
    const before = ledger.keys.size;
    ledger.apply({ type: 'policy_drop', at: 10_000, policies: [] });
    return before - ledger.keys.size;
  };
  const ledger = started();
  for (let no = 1; no <= 20; no += 1) {
    const record = { ...enqueue, at: 10, job: no, seq: no, key: `k${no}` } as LedgerRecord;
    ledger.apply(record);
    if (no <= 10) ledger.apply({ type: 'cancel', at: 10, job: no, reason: '' });
  }
  const again = reload(ledger);
  assert.is(expiredBy(ledger), expiredBy(again));
  assert.is(snapshotOf(ledger), snapshotOf(again));
});

ledgers.run();
