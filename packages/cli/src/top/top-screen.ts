import type { JobView, TableUse } from '@troupe/jobs';
import { textTable } from '../output/text/text-table.js';
import { workerTable } from '../output/text/worker-table.js';
import { listLines, wrapped } from './list-lines.js';
import type { Look } from './look-history.js';
import { countText, execTable, NO_EXECS, NO_WORKERS, overviewLines } from './overview-lines.js';
import { line, piece, type ScreenLine } from './screen-line.js';
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
  /** Of the view of one job. */
  readonly jobLines: readonly string[];
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** The whole screen, one entry per row, exactly as many as there are rows. */
export function drawTop(figures: TopFigures, state: TopState, size: ScreenSize): ScreenLine[] {
  const head = headLines(figures, state);
  const room = Math.max(0, size.rows - head.length - 1);
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
      return [
        line(piece('job', 'bold'), piece('  esc goes back', 'dim')),
        line(),
        ...figures.jobLines.flatMap((text) => wrapped(text, columns, text.startsWith('- ') ? 2 : NAME_WIDTH)),
      ];
    case 'storage':
      return storageLines(look, columns);
    case 'help':
      return HELP.flatMap((text) => wrapped(text, columns, 9));
    default:
      return state.view satisfies never;
  }
}

/** Of a fact of a job. */
const NAME_WIDTH = 11;

const HELP = [
  'o        overview: rates, depths, problems',
  'e        execs: depth and oldest job of each; enter: its jobs',
  'w        workers: slots, credit, processor, lag; enter: the jobs it runs',
  'j        jobs by state; tab: next state; enter: one job, and why it waits',
  'd        dead letters',
  's        storage: tables and log',
  '↑ ↓      move in a list; page up, page down, home and end too',
  'enter    open',
  'esc      back',
  'space    lets the figures stand still and go on',
  'q        quits',
];

function jobsLines({ jobs, hasMoreJobs }: TopFigures, state: TopState, room: number): ScreenLine[] {
  const states = JOB_STATES.map((one) => piece(` ${one} `, one === state.jobState ? 'selected' : 'dim'));
  const rows = jobs.map(({ id, view }) => [
    id,
    view.exec,
    String(view.attempt),
    new Date(view.submittedAt).toISOString().slice(0, 19),
    view.worker,
    view.failure?.message ?? view.reason,
  ]);
  const table = textTable(['ID', 'EXEC', 'ATTEMPT', 'SUBMITTED', 'WORKER', 'REASON'], rows);
  const { exec, worker } = state.of;
  const of = exec ?? worker;
  const title = `${hasMoreJobs ? `the oldest ${jobs.length} jobs` : 'jobs'}${of === undefined ? '' : ` of ${of}`}`;
  const none = `no job${of === undefined ? '' : ` of ${of}`} is ${state.jobState}`;
  return [
    line(...states, piece('  tab: next', 'dim')),
    ...listLines(title, table, state.row, room - 1, none),
  ];
}

function storageLines({ overview }: Look, columns: number): ScreenLine[] {
  const { tables, log, lsn } = overview;
  const rows = Object.entries(tables).map(([table, use]) => [
    table,
    countText(use.used),
    countText(use.max),
    partText(use),
  ]);
  const facts = [
    `last durable record ${lsn}`,
    `sealed segments ${(log.bytes / 1_048_576).toFixed(1)} MiB, read in ${log.replayMs} ms at the start`,
    `snapshots that failed ${log.failedSnapshots}, bytes cut at the opening ${log.cutBytes}`,
  ];
  return [
    line(piece('storage', 'bold')),
    ...facts.flatMap((fact) => wrapped(fact, columns, 2)),
    line(),
    ...textTable(['TABLE', 'USED', 'LIMIT', ''], rows).map((text) => line(text)),
  ];
}

const PART_WIDTH = 20;

function partText({ used, max }: TableUse): string {
  const filled = max === 0 ? 0 : Math.min(PART_WIDTH, Math.ceil((used / max) * PART_WIDTH));
  return `${'█'.repeat(filled)}${'░'.repeat(PART_WIDTH - filled)}`;
}
