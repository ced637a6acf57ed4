import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { JobFailure } from '#src/jobs-error.js';
import { ATTEMPT_CHARS_MAX, ATTEMPTS_MAX } from '#src/ledger/attempts/job-attempts.js';
import { encodeRecord } from '#src/ledger/codec/ledger-record-codec.js';
import { encodeSnapshot, loadChunk } from '#src/ledger/codec/ledger-snapshot-codec.js';
import { Ledger } from '#src/ledger/ledger.js';
import { ledgerContents } from '#src/ledger/ledger-contents.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import { bytesOf } from '../later-version.js';
import { firstRecords } from '../random-records.js';

const attempts = suite('attempts of jobs');

const JOB = 1;
const no = { name: 'Error', message: 'no paper', cause: { name: 'Error', message: 'the tray is empty' } };

function submitted(job = JOB, at = 5): LedgerRecord {
  return {
    type: 'enqueue',
    at,
    producer: 1,
    seq: job,
    low: 0,
    job,
    policy: 1,
    dueAt: 0,
    key: '',
    payload: '1',
  };
}

function assigned(attempt: number, at: number, job = JOB): LedgerRecord {
  return { type: 'assign', at, job, attempt, worker: `w${attempt}` };
}

function failed(attempt: number, at: number, job = JOB, failure: JobFailure = no): LedgerRecord {
  return { type: 'retry', at, job, attempt, dueAt: 0, failure };
}

function ledgerOf(records: readonly LedgerRecord[]): Ledger {
  const ledger = new Ledger();
  for (const record of [...firstRecords(), ...records]) ledger.apply(record);
  return ledger;
}

function restored(ledger: Ledger): Ledger {
  const copy = new Ledger();
  for (const chunk of encodeSnapshot(ledger)) loadChunk(copy, Uint8Array.from(chunk));
  return copy;
}

attempts('each attempt has its worker, its times, its ending and its failure', () => {
  const ledger = ledgerOf([submitted(), assigned(1, 10), failed(1, 20), assigned(2, 30)]);
  ledger.apply({ type: 'ack', at: 40, job: JOB, attempt: 2, result: '2' });
  assert.equal(ledger.attempts.of(JOB), [
    { attempt: 1, worker: 'w1', startedAt: 10, endedAt: 20, ending: 'failed', failure: no },
    { attempt: 2, worker: 'w2', startedAt: 30, endedAt: 40, ending: 'done' },
  ]);
});

attempts('each way to end without an output has its word', () => {
  const ledger = ledgerOf([submitted(), submitted(2)]);
  const requeues = ['retry', 'timeout_requeue', 'worker_down_requeue', 'release'] as const;
  for (const [index, type] of requeues.entries()) {
    ledger.apply(assigned(index + 1, 10));
    ledger.apply({ type, at: 10, job: JOB, attempt: index + 1, dueAt: 0, failure: undefined });
  }
  ledger.apply(assigned(5, 10));
  ledger.apply({ type: 'dlq', at: 10, job: JOB, attempt: 5, reason: 'quarantined', failure: undefined });
  ledger.apply({ type: 'redrive', at: 10, jobs: [JOB] });
  ledger.apply(assigned(6, 10));
  ledger.apply({ type: 'cancel', at: 10, job: JOB, reason: '' });
  assert.equal(
    ledger.attempts.of(JOB).map(({ attempt, ending }) => [attempt, ending]),
    [
      [1, 'failed'],
      [2, 'timed-out'],
      [3, 'worker-lost'],
      [4, 'released'],
      [5, 'quarantined'],
      [6, 'cancelled'],
    ],
  );
  ledger.apply({ type: 'cancel', at: 10, job: 2, reason: 'never assigned' });
  assert.equal(ledger.attempts.of(2), []);
});

attempts('a job that is done with its first attempt keeps none, and costs no byte of a snapshot', () => {
  const ledger = ledgerOf([submitted(), assigned(1, 10)]);
  ledger.apply({ type: 'ack', at: 20, job: JOB, attempt: 1, result: '2' });
  assert.is(ledger.attempts.size, 0);
  assert.equal(
    [...encodeSnapshot(ledger)].filter((chunk) => chunk[0] === 65),
    [],
  );
});

attempts(
  'a snapshot in the middle of an attempt, and the records behind it, give the whole time line',
  () => {
    const first = [submitted(), assigned(1, 10), failed(1, 20), assigned(2, 30)];
    const rest: LedgerRecord[] = [
      failed(2, 40),
      assigned(3, 50),
      { type: 'dlq', at: 60, job: JOB, attempt: 3, reason: 'failed', failure: no },
    ];
    const whole = ledgerOf([...first, ...rest]);
    const copy = restored(ledgerOf(first));
    assert.equal(copy.jobs.get(JOB)?.assignment, { worker: 'w2', startedAt: 30 });
    for (const record of rest) copy.apply(record);
    assert.equal(copy.attempts.of(JOB), whole.attempts.of(JOB));
    assert.equal([...encodeSnapshot(copy)], [...encodeSnapshot(whole)]);
  },
);

attempts('a journal that makes its own snapshots keeps them too', () => {
  const contents = ledgerContents();
  const entries = [...firstRecords(), submitted(), assigned(1, 10), failed(1, 20)];
  for (const record of entries) contents.apply(bytesOf((out) => encodeRecord(record, out)));
  const ledger = new Ledger();
  for (const chunk of contents.save()) loadChunk(ledger, Uint8Array.from(chunk));
  assert.equal(
    ledger.attempts.of(JOB).map(({ ending, failure }) => [ending, failure?.cause?.message]),
    [['failed', 'the tray is empty']],
  );
});

attempts('of one job the latest are kept', () => {
  const ledger = ledgerOf([submitted()]);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX + 5; attempt += 1) {
    ledger.apply(assigned(attempt, 10));
    ledger.apply(failed(attempt, 10));
  }
  const numbers = ledger.attempts.of(JOB).map(({ attempt }) => attempt);
  assert.is(numbers.length, ATTEMPTS_MAX);
  assert.is(numbers.at(-1), ATTEMPTS_MAX + 5);
});

attempts('of all jobs the latest are kept, and a snapshot keeps the same', () => {
  const failure = { name: 'Error', message: 'x'.repeat(ATTEMPT_CHARS_MAX / 4) };
  const ledger = ledgerOf([]);
  for (let job = 1; job <= 5; job += 1) {
    ledger.apply(submitted(job));
    ledger.apply(assigned(1, 10, job));
    ledger.apply(failed(1, 10, job, failure));
  }
  const kept = (of: Ledger): number[] => [...of.attempts.entries()].map(([job]) => job);
  assert.equal(kept(ledger), [3, 4, 5]);
  assert.equal(kept(restored(ledger)), [3, 4, 5]);
});

attempts('they go with their job', () => {
  const ledger = ledgerOf([submitted(), assigned(1, 10)]);
  ledger.apply({ type: 'dlq', at: 20, job: JOB, attempt: 1, reason: 'final', failure: no });
  assert.is(ledger.attempts.size, 1);
  ledger.apply({ type: 'purge', at: 30, jobs: [JOB] });
  assert.is(ledger.attempts.size, 0);
});

attempts.run();
