import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Pace, ROW_JOBS_MAX } from '#src/protocol/run-time-estimate.js';

const paces = suite('pace');

function paceOf(...attemptMs: number[]): Pace {
  const pace = new Pace();
  for (const ms of attemptMs) pace.ran(1, ms);
  return pace;
}

paces('a row is what two milliseconds hold, and at most its limit', () => {
  assert.equal(
    [0, 0.001, 0.01, 0.1, 0.9, 2, 2.1].map((attemptMs) => paceOf(attemptMs).row),
    [ROW_JOBS_MAX, ROW_JOBS_MAX, 200, 20, 2, 1, 0],
  );
});

paces('before the first attempt has ended there is no row', () => {
  const pace = new Pace();
  assert.is(pace.row, 0);
  pace.ran(0, 0);
  pace.ran(1, Number.NaN);
  pace.ran(1, -1);
  assert.is(pace.row, 0);
});

paces('a slow attempt counts at once, fast ones by and by', () => {
  const pace = paceOf(0.01, 100);
  assert.is(pace.row, 0);
  const rows: number[] = [];
  for (let i = 0; i < 20; i += 1) {
    pace.ran(1, 0.01);
    rows.push(pace.row);
  }
  assert.is(
    rows.findIndex((row) => row > 0),
    13,
  );
  assert.ok(rows.every((row, i) => i === 0 || row >= (rows[i - 1] as number)));
});

paces('many attempts count as their mean', () => {
  const pace = new Pace();
  pace.ran(10, 5);
  assert.is(pace.row, 4);
});

paces.run();
