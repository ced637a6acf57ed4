import type { ExecDepth } from '@troupe/jobs';
import { timeText } from '../output/text/explanation-text.js';
import { textTable } from '../output/text/text-table.js';
import { workerTable } from '../output/text/worker-table.js';
import { leaderProblems } from './leader-problems.js';
import { listLines, wrapped } from './list-lines.js';
import type { Look } from './look-history.js';
import { line, piece, type ScreenLine, type Style } from './screen-line.js';
import { sparkline } from './sparkline.js';

export const NO_WORKERS = 'no worker is connected; start one: troupe worker <module>';
export const NO_EXECS = 'no job waits or runs';

const NAME_WIDTH = 11;
const LIST_ROWS_MIN = 3;
/** Below it a blank line is a row that a list needs. */
const ROOM_FOR_GAPS = 16;

interface Figure {
  readonly name: string;
  readonly text: string;
  readonly values: readonly number[];
  readonly style: Style;
}

/** Rates and depths, the red list, then the deepest execs and the workers in the rest of the screen. */
export function overviewLines(
  looks: readonly Look[],
  look: Look,
  columns: number,
  room: number,
): ScreenLine[] {
  const gap = room < ROOM_FOR_GAPS ? [] : [line()];
  const above = [...figureLines(looks, look, columns), ...gap, ...problemLines(look, columns, room), ...gap];
  const left = room - above.length;
  const { workers, execs = [] } = look.overview;
  const shownWorkers = workerTable(workers);
  const shownExecs = execTable(execs);
  // Title, head, rows and the blank below.
  const forExecs = Math.min(
    shownExecs.length + 2,
    left - Math.min(shownWorkers.length + 1, Math.ceil(left / 2)),
  );
  const hasExecs = execs.length > 0 && forExecs >= LIST_ROWS_MIN + 1;
  const upper = hasExecs ? [...listLines('execs', shownExecs, -1, forExecs - 1, NO_EXECS), line()] : [];
  return [...above, ...upper, ...listLines('workers', shownWorkers, -1, left - upper.length, NO_WORKERS)];
}

/** The deepest exec first, the head at the top. */
export function execTable(execs: readonly ExecDepth[]): string[] {
  const rows = execs.map(({ exec, queued, running, oldestMs }) => [
    exec,
    countText(queued),
    countText(running),
    oldestMs === 0 ? '' : timeText(oldestMs),
  ]);
  return textTable(['EXEC', 'QUEUED', 'RUNNING', 'OLDEST'], rows);
}

function figureLines(looks: readonly Look[], look: Look, columns: number): ScreenLine[] {
  const { counts, delayed } = look.overview;
  const figure = (name: string, text: string, value: (one: Look) => number, style: Style): Figure => ({
    name,
    text,
    values: looks.map(value),
    style,
  });
  const figures = [
    figure('accepted/s', rateText(look.acceptedPerS), (one) => one.acceptedPerS, 'cyan'),
    figure('ended/s', rateText(look.endedPerS), (one) => one.endedPerS, 'green'),
    figure('queued', delayedText(counts.queued, delayed), (one) => one.overview.counts.queued, 'cyan'),
    figure('running', countText(counts.running), (one) => one.overview.counts.running, 'green'),
    figure(
      'dead',
      countText(counts.dead),
      (one) => one.overview.counts.dead,
      counts.dead > 0 ? 'red' : 'plain',
    ),
  ];
  const textWidth = Math.max(...figures.map(({ text }) => text.length));
  const width = Math.max(8, columns - NAME_WIDTH - textWidth - 2);
  return figures.map(({ name, text, values, style }) =>
    line(
      piece(name.padEnd(NAME_WIDTH), 'dim'),
      piece(text.padStart(textWidth), 'bold'),
      '  ',
      piece(sparkline(values, width), style),
    ),
  );
}

/** At most a third of the room: a long list leaves the rest of the screen. */
function problemLines(look: Look, columns: number, room: number): ScreenLine[] {
  const problems = leaderProblems(look);
  if (problems.length === 0) return [line(piece('no problems', 'green'))];
  const lines = problems.flatMap((problem) => wrapped(`! ${problem}`, columns, 2, 'red'));
  const max = Math.max(3, Math.floor(room / 3));
  const shown = lines.length <= max ? lines : [...lines.slice(0, max - 1), line(piece('! …', 'red'))];
  return [line(piece(`problems (${problems.length})`, 'bold')), ...shown];
}

function rateText(perS: number): string {
  return `${perS < 100 ? perS.toFixed(1) : countText(Math.round(perS))}/s`;
}

function delayedText(queued: number, delayed: number): string {
  return delayed === 0 ? countText(queued) : `${countText(queued)} (${countText(delayed)} delayed)`;
}

/** `1,234,567` */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}
