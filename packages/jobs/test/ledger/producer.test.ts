import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Ledger } from '#src/ledger/ledger.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import { Producer } from '#src/ledger/producer.js';
import { LeaderHarness } from '../leader/leader-harness.js';
import { policyOf } from './random-records.js';

const producers = suite('producer');

producers('a number far ahead of the mark costs one entry, and a repeated submit finds its job', () => {
  const producer = new Producer(1, 'ann', 't', 0);
  producer.addSubmit(1_048_576, 7, 0, 1);
  producer.addSubmit(3, 8, 0, 2);
  assert.is(producer.size, 2);
  assert.equal(
    [3, 4, 1_048_576].map((seq) => producer.jobOf(seq)),
    [8, 0, 7],
  );
  assert.equal(producer.entries(), [
    [3, 8],
    [1_048_576, 7],
  ]);
});

producers('the mark drops the numbers it passes and no others, in small and in large steps', () => {
  const producer = new Producer(1, 'ann', 't', 0);
  for (const seq of [1, 2, 3, 5, 900, 1_000]) producer.addSubmit(seq, seq * 10, 0, 1);
  producer.advance(2);
  assert.equal(
    [1, 2, 3, 5].map((seq) => producer.jobOf(seq)),
    [-1, -1, 30, 50],
  );
  producer.advance(950);
  assert.equal(
    [5, 900, 1_000].map((seq) => producer.jobOf(seq)),
    [-1, -1, 10_000],
  );
  assert.is(producer.size, 1);
  producer.advance(10);
  assert.is(producer.low, 950, 'the mark never goes back');
});

/** The records of a client that was allowed to be a million numbers ahead, once for each token. */
function farAheadRecords(tokens: number): LedgerRecord[] {
  // The wall clock of the harness.
  const at = 1_000_000_000;
  const policy = policyOf('one', { doneMs: 1e6, deadMs: 1e6 });
  const records: LedgerRecord[] = [
    { type: 'genesis', at, tag: 'abcde' },
    { type: 'policy', at, no: 1, policy },
  ];
  for (let no = 1; no <= tokens; no += 1) {
    const submission = { job: no, policy: 1, dueAt: 0, key: '', payload: 'x' };
    records.push({ type: 'producer', at, producer: no, client: 'mallory', token: `t${no}` });
    records.push({ type: 'enqueue', at, producer: no, seq: 1_048_576, low: 0, ...submission });
  }
  return records;
}

producers('a log with submits of numbers a million ahead opens again, with one entry for each', () => {
  const ledger = new Ledger();
  for (const record of farAheadRecords(2_000)) ledger.apply(record);
  assert.is(ledger.counts.queued, 2_000);
  assert.is(
    [...ledger.producers.values()].reduce((sum, { size }) => sum + size, 0),
    2_000,
  );
});

producers('a leader restarts on such a log, and a repeated submit is answered with its job', () => {
  const log = { entries: LeaderHarness.entriesOf(farAheadRecords(3)) };
  const harness = new LeaderHarness({ log });
  const again = harness.client('mallory', 't2').submit('x', { seq: 1_048_576 });
  assert.equal([again?.jobs, again?.duplicate], [[2], true]);
  assert.is(
    harness.client('mallory', 't2').submit('y', { seq: 1_048_577 })?.refusal?.code,
    'ERR_SUBMIT_WINDOW_FULL',
  );
});

producers.run();
