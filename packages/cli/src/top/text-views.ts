import type { TableUse } from '@troupe/jobs';
import { textTable } from '../output/text/text-table.js';
import { wrapped } from './list-lines.js';
import type { Look } from './look-history.js';
import { countText } from './overview-lines.js';
import { line, piece, type ScreenLine } from './screen-line.js';
import type { TopView } from './top-state.js';

/** Views that are texts. They move by rows where they are longer than the screen. */
type TextViewName = 'job' | 'storage' | 'help';

export interface TextView {
  readonly title: string;
  readonly note: string;
  readonly lines: readonly ScreenLine[];
}

export function isText(view: TopView): view is TextViewName {
  return view === 'job' || view === 'storage' || view === 'help';
}

/** `jobLines`: of the job that is opened. */
export function textView(
  view: TextViewName,
  look: Look,
  jobLines: readonly string[],
  columns: number,
): TextView {
  switch (view) {
    case 'job':
      return {
        title: 'job',
        note: 'esc goes back',
        lines: jobLines.flatMap((text) => wrapped(text, columns, text.startsWith('- ') ? 2 : NAME_WIDTH)),
      };
    case 'storage':
      return { title: 'storage', note: '', lines: storageLines(look, columns) };
    case 'help':
      return { title: 'keys', note: '', lines: HELP.flatMap((text) => wrapped(text, columns, KEY_WIDTH)) };
    default:
      return view satisfies never;
  }
}

/** The title and the blank below it. */
const TITLE_ROWS = 2;

/** The lines that are on the screen when the text is moved by so many rows. */
export function shownText({ title, note, lines }: TextView, row: number, room: number): ScreenLine[] {
  const fits = fitting(room);
  const first = Math.max(0, Math.min(row, lines.length - fits));
  const below = Math.max(0, lines.length - first - fits);
  const notes = [lines.length > fits ? `↑ ↓ move, ${below} below` : '', note];
  return [
    line(
      piece(title, 'bold'),
      ...notes.filter((text) => text !== '').map((text) => piece(`  ${text}`, 'dim')),
    ),
    line(),
    ...lines.slice(first, first + fits),
  ];
}

/** The rows by which a text can be moved, none included. */
export function movesOf({ lines }: TextView, room: number): number {
  return Math.max(1, lines.length - fitting(room) + 1);
}

function fitting(room: number): number {
  return Math.max(1, room - TITLE_ROWS);
}

/** Of a fact of a job. */
const NAME_WIDTH = 11;
const KEY_WIDTH = 9;

const HELP = [
  'o        overview: rates, depths, problems',
  'e        execs: depth and oldest job of each; enter: its jobs',
  'w        workers: slots, credit, processor, lag; enter: the jobs it runs',
  'j        jobs by state; tab: next state; enter: one job, and why it waits',
  'd        dead letters',
  's        storage: tables and log',
  '↑ ↓      move in a list or a long text; page up, page down, home and end too',
  'enter    open',
  'esc      back',
  'space    lets the figures stand still and go on',
  'q        quits',
];

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
