import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { printTable } from '#src/output/text/text-table.js';

const tables = suite('tables');

function printed(columns: number | undefined, rows: readonly (readonly string[])[]): string[] {
  const lines: string[] = [];
  const terminal = {
    out: (line: string) => void lines.push(line),
    err: () => undefined,
    isInteractive: false,
    draw: () => undefined,
    columns,
  };
  printTable(terminal, ['ID', 'REASON'], rows);
  return lines;
}

tables('the last column ends at the edge of a terminal; a pipe gets all of it', () => {
  const rows = [['a', 'x'.repeat(60)]];
  assert.equal(printed(undefined, rows), ['ID  REASON', `a   ${'x'.repeat(60)}`]);
  assert.equal(printed(40, rows), ['ID  REASON', `a   ${'x'.repeat(35)}…`]);
  assert.equal(printed(5, rows), ['ID  REASON', `a   ${'x'.repeat(15)}…`]);
});

tables('a text that fits is not cut, and control characters cannot reach the terminal', () => {
  assert.equal(printed(40, [['a', 'short']]), ['ID  REASON', 'a   short']);
  assert.equal(printed(40, [['a', '\u001b[2J']]), ['ID  REASON', 'a   \\u001b[2J']);
});

tables.run();
