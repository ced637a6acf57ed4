import { escapeControlCharacters } from './escape-control-characters.js';

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
