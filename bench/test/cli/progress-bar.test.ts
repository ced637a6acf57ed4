import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { duration, ProgressBar } from '#src/cli/progress-bar.js';
import type { Case } from '#src/runner/suite.js';
import { caseWith, rowWith } from '../case-builders.js';

const progress = suite('progress');

class Screen {
  text = '';
  readonly columns: number;
  readonly isTTY: boolean;

  constructor(isTTY: boolean, columns = 200) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  write(text: string): void {
    this.text += text;
  }
}

const planned = (benchmark: Case) => ({ case: benchmark, system: 'troupe', round: 0 });

progress('a terminal gets a bar with the remaining time', () => {
  const screen = new Screen(true);
  let now = 0;
  const bar = new ProgressBar(screen, () => now);
  bar.started(planned(caseWith({})), 0, 4);
  assert.match(screen.text, /0\/4 ETA –/);
  now = 10_000;
  bar.started(planned(caseWith({})), 1, 4);
  assert.match(screen.text, /1\/4 ETA 30 s {2}pingpong · troupe/);
});

progress('a terminal that reports zero columns still gets the remaining time', () => {
  const screen = new Screen(true, 0);
  new ProgressBar(screen, () => 0).started(planned(caseWith({})), 0, 4);
  assert.match(screen.text, /0\/4 ETA –/);
});

progress('the bar is cleared before a row is printed', () => {
  const screen = new Screen(true);
  const bar = new ProgressBar(screen, () => 0);
  bar.started(planned(caseWith({})), 0, 1);
  bar.row(rowWith({}));
  assert.ok(screen.text.includes('\r\u001b[2Kpingpong'));
});

progress('a log file gets plain lines only', () => {
  const screen = new Screen(false);
  const bar = new ProgressBar(screen, () => 0);
  bar.started(planned(caseWith({})), 0, 1);
  bar.finished(planned(caseWith({})), 1, 1);
  bar.row(rowWith({}));
  bar.refused({ benchmark: 'ring', system: 'nact', reason: 'completed 3 of 4\nmore' });
  const lines = screen.text.split('\n');
  assert.is(lines.length, 3);
  assert.not.match(screen.text, '\u001b');
  assert.match(lines[1] ?? '', /ring +nact +refused: completed 3 of 4$/);
});

progress('a duration is whole seconds or minutes', () => {
  assert.is(duration(59.4), '59 s');
  assert.is(duration(125), '2 min 05 s');
});

progress.run();
