import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ProgressTable } from '#src/leader/progress/progress-table.js';
import type { WorkerSession } from '#src/leader/sessions/worker-session.js';
import type { AttemptProgress } from '#src/protocol/worker/progress-messages.js';

const table = suite('progress table');

const HOLDER = { name: 'w~1' } as WorkerSession;
const OTHER = { name: 'w~2' } as WorkerSession;

/** Every job is at its second attempt, at the holder. */
function tableOf(): ProgressTable {
  const jobs = { get: () => ({ lease: { attempt: 2, session: HOLDER } }) };
  return new ProgressTable({ ledger: { jobs }, recordTime: 7 } as unknown as ProgressTable['context']);
}

function said(job: number, more: Partial<AttemptProgress> = {}): AttemptProgress {
  return { job, attempt: 2, lines: [], dropped: 0, ...more };
}

table('only the holder of the running attempt is believed', () => {
  const progress = tableOf();
  progress.take(OTHER, [said(1, { share: 0.5 })]);
  progress.take(HOLDER, [said(1, { attempt: 1, share: 0.5 })]);
  assert.is(progress.of(1), undefined);
  progress.take(HOLDER, [said(1, { share: 0.5, note: 'half', lines: ['a'] })]);
  const expected = { attempt: 2, share: 0.5, note: 'half', lines: [{ at: 7, text: 'a' }], dropped: 0, at: 7 };
  assert.equal(progress.of(1), expected);
});

table('a value that is absent stays as it was', () => {
  const progress = tableOf();
  progress.take(HOLDER, [said(1, { share: 0.5, note: 'half', waitsForRunner: 'llm' })]);
  progress.take(HOLDER, [said(1, { lines: ['a'] })]);
  assert.equal([progress.of(1)?.share, progress.of(1)?.note], [0.5, 'half']);
  assert.is(progress.waitsForRunner(1, 2), 'llm');
  assert.is(progress.waitsForRunner(1, 3), undefined);
  progress.take(HOLDER, [said(1, { waitsForRunner: '' })]);
  assert.is(progress.waitsForRunner(1, 2), undefined);
});

table('a worker cannot give more than lines and texts of bounded size', () => {
  const progress = tableOf();
  const lines = Array.from({ length: 1_000 }, () => 'x'.repeat(10_000));
  progress.take(HOLDER, [said(1, { share: Number.NaN, note: 'y'.repeat(10_000), lines, dropped: 5 })]);
  const entry = progress.of(1);
  assert.equal([entry?.share, entry?.note.length, entry?.lines.length, entry?.dropped], [0, 500, 100, 905]);
  assert.ok(entry?.lines.every(({ text }) => text.length === 500));
});

table('of all jobs the one that was silent for the longest time loses its lines first', () => {
  const progress = tableOf();
  const lines = Array.from({ length: 100 }, () => 'x'.repeat(500));
  // 16 Mi characters hold about 320 of these.
  for (let job = 1; job <= 400; job += 1) {
    progress.take(HOLDER, [said(job, { lines })]);
    progress.take(HOLDER, [said(1, { share: 0.5 })]);
  }
  assert.is(progress.of(2), undefined);
  assert.is(progress.of(400)?.lines.length, 100);
  // It spoke all the time.
  assert.is(progress.of(1)?.lines.length, 100);
});

table.run();
