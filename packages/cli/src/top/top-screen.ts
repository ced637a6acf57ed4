import type { JobView } from '@troupe/jobs';
import { textTable } from '../output/text/text-table.js';
import { workerTable } from '../output/text/worker-table.js';
import { listLines } from './list-lines.js';
import type { Look } from './look-history.js';
import { execTable, NO_EXECS, NO_WORKERS, overviewLines } from './overview-lines.js';
import { line, piece, type ScreenLine } from './screen-line.js';
import { isText, movesOf, shownText, textView } from './text-views.js';
import { JOB_STATES, type TopState, type TopView } from './top-state.js';

/** Everything that the screen shows. */
export interface TopFigures {
  readonly leader: string;
  /** Oldest first. Empty before the first look. */
  readonly looks: readonly Look[];
  /** Since when the leader does not answer; undefined: it does. */
  readonly awayMs: number | undefined;
  /** Of the view of jobs, with their ids. */
  readonly jobs: readonly { readonly id: string; readonly view: JobView }[];
  /** There are more than these. */
  readonly hasMoreJobs: boolean;
  /** Why the jobs could not be read. */
  readonly jobsProblem: string | undefined;
  /** Of the view of one job. */
  readonly jobLines: readonly string[];
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** The head line and the blank below it. */
const HEAD_ROWS = 2;

/** The whole screen, one entry per row, exactly as many as there are rows. */
export function drawTop(figures: TopFigures, state: TopState, size: ScreenSize): ScreenLine[] {
  const head = headLines(figures, state);
  const room = Math.max(0, size.rows - HEAD_ROWS - 1);
  const body = figures.looks.length === 0 ? waiting(figures) : bodyOf(figures, state, size, room);
  const shown = body.slice(0, room);
  const empty = Array.from({ length: room - shown.length }, () => line());
  return [...head, ...shown, ...empty, keyLine(state, size.columns)].slice(0, size.rows);
}

/** A note stands before the address, so that a narrow terminal has it. */
function headLines({ leader, looks, awayMs }: TopFigures, state: TopState): ScreenLine[] {
  const look = looks.at(-1);
  const lsn = look === undefined ? '' : `  record ${look.overview.lsn}`;
  const frozen = state.isFrozen ? piece('  frozen', 'yellow') : piece('');
  const away =
    awayMs === undefined
      ? piece('')
      : piece(`  the leader is away for ${Math.round(awayMs / 1_000)} s`, 'red');
  return [line(piece('troupe top', 'bold'), frozen, away, `  ${leader}`, piece(lsn, 'dim')), line()];
}

const KEYS: readonly [string, TopView | undefined][] = [
  ['o overview', 'overview'],
  ['e execs', 'execs'],
  ['w workers', 'workers'],
  ['j jobs', 'jobs'],
  ['d dead', undefined],
  ['s storage', 'storage'],
  ['space freeze', undefined],
];
const LAST_KEYS = '? keys  q quit';

/** As many keys as fit; the help and the end are always there. */
function keyLine({ view }: TopState, columns: number): ScreenLine {
  let room = columns - LAST_KEYS.length;
  const shown = KEYS.filter(([text]) => {
    room -= text.length + 2;
    return room >= 0;
  });
  return line(
    ...shown.map(([text, of]) => piece(`${text}  `, of === view ? 'bold' : 'dim')),
    piece(LAST_KEYS, 'dim'),
  );
}

function waiting({ leader, awayMs }: TopFigures): ScreenLine[] {
  if (awayMs === undefined) return [line('connecting …')];
  return [line(`no leader at ${leader} yet; start one: troupe leader`)];
}

function bodyOf(figures: TopFigures, state: TopState, { columns }: ScreenSize, room: number): ScreenLine[] {
  const look = figures.looks.at(-1) as Look;
  const { workers, execs = [] } = look.overview;
  switch (state.view) {
    case 'overview':
      return overviewLines(figures.looks, look, columns, room);
    case 'execs':
      return [
        ...listLines('execs', execTable(execs), state.row, room - 1, NO_EXECS),
        line(piece('enter: their jobs', 'dim')),
      ];
    case 'workers':
      return [
        ...listLines('workers', workerTable(workers), state.row, room - 1, NO_WORKERS),
        line(piece('enter: the jobs it runs', 'dim')),
      ];
    case 'jobs':
      return jobsLines(figures, state, room);
    case 'job':
    case 'storage':
    case 'help':
      return shownText(textView(state.view, look, figures.jobLines, columns), state.row, room);
    default:
      return state.view satisfies never;
  }
}

/** The rows by which the text of a view can be moved; undefined: it is no text. */
export function textMoves(
  { looks, jobLines }: TopFigures,
  { view }: TopState,
  { columns, rows }: ScreenSize,
): number | undefined {
  const look = looks.at(-1);
  if (look === undefined || !isText(view)) return undefined;
  return movesOf(textView(view, look, jobLines, columns), rows - HEAD_ROWS - 1);
}

function jobsLines(
  { jobs, hasMoreJobs, jobsProblem }: TopFigures,
  state: TopState,
  room: number,
): ScreenLine[] {
  const states = JOB_STATES.map((one) => piece(` ${one} `, one === state.jobState ? 'selected' : 'dim'));
  const isRun = jobs.some(({ view }) => view.worker !== '');
  const rows = jobs.map(({ id, view }) => [
    id,
    view.exec,
    String(view.attempt),
    new Date(view.submittedAt).toISOString().slice(0, 19),
    ...(isRun ? [view.worker] : []),
    view.failure?.message ?? view.reason,
  ]);
  const head = ['ID', 'EXEC', 'ATTEMPT', 'SUBMITTED', ...(isRun ? ['WORKER'] : []), 'REASON'];
  const table = textTable(head, rows);
  const { exec, worker } = state.of;
  const of = exec ?? worker;
  const title = `${hasMoreJobs ? `the oldest ${jobs.length} jobs` : 'jobs'}${of === undefined ? '' : ` of ${of}`}`;
  const none = jobsProblem ?? `no job${of === undefined ? '' : ` of ${of}`} is ${state.jobState}`;
  return [
    line(...states, piece('  tab: next', 'dim')),
    ...listLines(title, table, state.row, room - 1, none),
  ];
}
