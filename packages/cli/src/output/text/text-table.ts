import type { Terminal } from '../terminal.js';
import { escapeControlCharacters } from './escape-control-characters.js';

/** The last column is never cut below this. */
const LAST_WIDTH_MIN = 16;

/** Columns as wide as their widest cell. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [head, ...rows.map((row) => row.map(escapeControlCharacters))];
  const widths = head.map((_, i) => cells.reduce((most, row) => Math.max(most, (row[i] ?? '').length), 0));
  return cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** A table on a terminal: its last column, a text, ends at the edge. A pipe gets the whole text. */
export function printTable(
  terminal: Terminal,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const { columns } = terminal;
  const last = head.length - 1;
  const escaped = rows.map((row) => row.map(escapeControlCharacters));
  const others = head
    .slice(0, last)
    .reduce(
      (sum, name, i) => sum + 2 + Math.max(name.length, ...escaped.map((row) => (row[i] ?? '').length)),
      0,
    );
  const room = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(LAST_WIDTH_MIN, columns - others);
  const fitting = escaped.map((row) => [...row.slice(0, last), cutText(row[last] ?? '', room)]);
  for (const line of textTable(head, fitting)) terminal.out(line);
}

function cutText(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`;
}
