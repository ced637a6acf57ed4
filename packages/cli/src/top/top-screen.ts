import type { JobView, TableUse } from '@troupe/jobs';
import { textTable } from '../output/text-table.js';
import { workerTable } from '../output/worker-table.js';
import { leaderProblems } from './leader-problems.js';
import type { Look } from './look-history.js';
import { line, piece, type ScreenLine, type Style } from './screen-line.js';
import { sparkline } from './sparkline.js';
import { JOB_STATES, type TopState } from './top-state.js';

/** Everything that the screen shows. */
export interface TopFigures {
  readonly leader: string;
  /** Oldest first. Empty before the first look. */
  readonly looks: readonly Look[];
  /** Since when the leader does not answer; undefined: it does. */
  readonly awayMs: number | undefined;
  /** Of the view of jobs, with their ids. */
  readonly jobs: readonly { readonly id: string; readonly view: JobView }[];
  /** Of the view of one job. */
  readonly jobLines: readonly string[];
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const KEYS = 'o overview  w workers  j jobs  d dead  s storage  space freeze  ? keys  q quit';

/** The whole screen, one entry per row, exactly as many as there are rows. */
export function drawTop(figures: TopFigures, state: TopState, size: ScreenSize): ScreenLine[] {
  const head = headLines(figures, state);
  const room = Math.max(0, size.rows - head.length - 1);
  const body = figures.looks.length === 0 ? waiting(figures) : bodyOf(figures, state, size, room);
  const shown = body.slice(0, room);
  const empty = Array.from({ length: room - shown.length }, () => line());
  return [...head, ...shown, ...empty, line(piece(KEYS, 'dim'))].slice(0, size.rows);
}

function headLines({ leader, looks, awayMs }: TopFigures, state: TopState): ScreenLine[] {
  const look = looks.at(-1);
  const lsn = look === undefined ? '' : `  record ${look.overview.lsn}`;
  const frozen = state.isFrozen ? piece('  frozen', 'yellow') : piece('');
  const away =
    awayMs === undefined
      ? piece('')
      : piece(`  the leader is away for ${Math.round(awayMs / 1_000)} s, connecting`, 'red');
  return [line(piece('troupe top', 'bold'), `  ${leader}${lsn}`, frozen, away), line()];
}

function waiting({ leader, awayMs }: TopFigures): ScreenLine[] {
  if (awayMs === undefined) return [line('connecting …')];
  return [line(`no leader at ${leader} yet; start one: troupe leader`)];
}

function bodyOf(figures: TopFigures, state: TopState, size: ScreenSize, room: number): ScreenLine[] {
  const look = figures.looks.at(-1) as Look;
  switch (state.view) {
    case 'overview':
      return overviewLines(figures.looks, look, size, room);
    case 'workers':
      return listLines('workers', workerTable(look.overview.workers), state.row, room, NO_WORKERS);
    case 'jobs':
      return jobsLines(figures.jobs, state, room);
    case 'job':
      return [
        line(piece('job', 'bold'), piece('  esc goes back', 'dim')),
        line(),
        ...figures.jobLines.map((text) => line(text)),
      ];
    case 'storage':
      return storageLines(look);
    case 'help':
      return HELP.map((text) => line(text));
    default:
      return state.view satisfies never;
  }
}

const NO_WORKERS = 'no worker is connected; start one: troupe worker <module>';
const HELP = [
  'o  overview: rates, depths, problems, workers',
  'w  workers: state, slots, credit, processor, lag',
  'j  jobs by state; tab goes to the next state, enter opens a job',
  'd  dead letters',
  's  storage: tables and log',
  '↑ ↓  move in a list    enter  open    esc  back',
  'space  lets the figures stand still and go on',
  'q  quits',
];

function overviewLines(looks: readonly Look[], look: Look, size: ScreenSize, room: number): ScreenLine[] {
  const { counts, delayed, workers } = look.overview;
  const width = Math.max(10, size.columns - 40);
  const row = (name: string, values: readonly number[], text: string, style: Style): ScreenLine =>
    line(name.padEnd(12), piece(sparkline(values, width), style), ` ${text}`);
  const of = (value: (one: Look) => number): number[] => looks.map(value);
  const problems = leaderProblems(look);
  const figures = [
    row(
      'accepted/s',
      of((one) => one.acceptedPerS),
      rateText(look.acceptedPerS),
      'cyan',
    ),
    row(
      'ended/s',
      of((one) => one.endedPerS),
      rateText(look.endedPerS),
      'green',
    ),
    row(
      'queued',
      of((one) => one.overview.counts.queued),
      delayedText(counts.queued, delayed),
      'cyan',
    ),
    row(
      'running',
      of((one) => one.overview.counts.running),
      countText(counts.running),
      'green',
    ),
    row(
      'dead',
      of((one) => one.overview.counts.dead),
      countText(counts.dead),
      counts.dead > 0 ? 'red' : 'plain',
    ),
    line(),
  ];
  const problemLines = [
    line(piece(problems.length === 0 ? 'no problems' : `problems (${problems.length})`, 'bold')),
    ...problems.map((problem) => line(piece(`! ${problem}`, 'red'))),
    line(),
  ];
  const above = [...figures, ...problemLines];
  return [...above, ...listLines('workers', workerTable(workers), -1, room - above.length, NO_WORKERS)];
}

function jobsLines(jobs: TopFigures['jobs'], state: TopState, room: number): ScreenLine[] {
  const states = JOB_STATES.map((one) => piece(` ${one} `, one === state.jobState ? 'selected' : 'dim'));
  const rows = jobs.map(({ id, view }) => [
    id,
    view.exec,
    String(view.attempt),
    new Date(view.submittedAt).toISOString().slice(0, 19),
    view.worker,
    view.reason || (view.failure?.message ?? ''),
  ]);
  const table = textTable(['ID', 'EXEC', 'ATTEMPT', 'SUBMITTED', 'WORKER', 'REASON'], rows);
  const none = `no job is ${state.jobState}`;
  return [
    line(...states, piece('  tab: next', 'dim')),
    ...listLines('jobs', table, state.row, room - 1, none),
  ];
}

/** The rows around the selected one; `-1` selects none. */
function listLines(
  title: string,
  [head = '', ...rows]: readonly string[],
  selected: number,
  room: number,
  none: string,
): ScreenLine[] {
  if (rows.length === 0) return [line(piece(title, 'bold')), line(piece(none, 'dim'))];
  const fits = Math.max(1, room - 2);
  const at = Math.min(Math.max(selected, 0), rows.length - 1);
  const first = Math.max(0, Math.min(at - Math.floor(fits / 2), rows.length - fits));
  const shown = rows.slice(first, first + fits);
  const more = rows.length > fits ? ` (${rows.length})` : '';
  return [
    line(piece(`${title}${more}`, 'bold')),
    line(piece(head, 'dim')),
    ...shown.map((text, i) =>
      line(piece(text, first + i === at && selected >= 0 ? 'selected' : styleOf(text))),
    ),
  ];
}

function styleOf(row: string): Style {
  if (/ blocked for /.test(row)) return 'red';
  return / gone /.test(row) ? 'dim' : 'plain';
}

function storageLines({ overview }: Look): ScreenLine[] {
  const { tables, log, lsn } = overview;
  const rows = Object.entries(tables).map(([table, use]) => [
    table,
    countText(use.used),
    countText(use.max),
    partText(use),
  ]);
  return [
    line(piece('storage', 'bold')),
    line(`last durable record ${lsn}`),
    line(
      `sealed segments ${(log.bytes / 1_048_576).toFixed(1)} MiB, read in ${log.replayMs} ms at the start`,
    ),
    line(`snapshots that failed ${log.failedSnapshots}, bytes cut at the opening ${log.cutBytes}`),
    line(),
    ...textTable(['TABLE', 'USED', 'LIMIT', ''], rows).map((text) => line(text)),
  ];
}

const PART_WIDTH = 20;

function partText({ used, max }: TableUse): string {
  const filled = max === 0 ? 0 : Math.min(PART_WIDTH, Math.ceil((used / max) * PART_WIDTH));
  return `${'█'.repeat(filled)}${'░'.repeat(PART_WIDTH - filled)}`;
}

function rateText(perS: number): string {
  return `${perS < 100 ? perS.toFixed(1) : countText(Math.round(perS))}/s`;
}

function delayedText(queued: number, delayed: number): string {
  return delayed === 0 ? countText(queued) : `${countText(queued)} (${countText(delayed)} delayed)`;
}

/** `1,234,567` */
function countText(count: number): string {
  return count.toLocaleString('en-US');
}
