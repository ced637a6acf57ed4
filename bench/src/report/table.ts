import type { Report, Row } from '../runner/report.js';
import { headlineUnit, headlineValue, significant, withUnit } from './number-format.js';

/** The rows of a report as a grid: a line per benchmark and a column per system. */
export interface Grid {
  readonly systems: readonly string[];
  readonly lines: readonly GridLine[];
}

export interface GridLine {
  readonly benchmark: string;
  readonly group: string;
  readonly unit: string;
  readonly rows: ReadonlyMap<string, Row>;
}

export function gridOf(report: Report): Grid {
  const systems = [...new Set(report.rows.map((row) => row.system))];
  const order = ['troupe', 'floor', 'erlang', 'go', 'tokio', 'xstate', 'nact', 'comedy', 'effect'];
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  systems.sort((a, b) => rank(a) - rank(b));
  const lines = new Map<string, { group: string; unit: string; rows: Map<string, Row> }>();
  for (const row of report.rows) {
    const line = lines.get(row.benchmark) ?? {
      group: row.group ?? '',
      unit: headlineUnit(row),
      rows: new Map(),
    };
    line.rows.set(row.system, row);
    lines.set(row.benchmark, line);
  }
  return { systems, lines: [...lines].map(([benchmark, line]) => ({ benchmark, ...line })) };
}

function cells(grid: Grid): string[][] {
  return grid.lines.map((line) => [
    line.benchmark,
    line.unit,
    ...grid.systems.map((system) => {
      const row = line.rows.get(system);
      return row === undefined ? '' : withUnit(row, headlineValue(row));
    }),
  ]);
}

function ratioCells(report: Report, grid: Grid): string[][] {
  return grid.lines.map((line) => [
    line.benchmark,
    ...grid.systems.map((system) => {
      const entry = Object.entries(report.ratios[line.benchmark] ?? {}).find(([key]) =>
        key.endsWith(`/${system}`),
      );
      return entry === undefined ? '' : significant(entry[1]);
    }),
  ]);
}

function align(lines: readonly (readonly string[])[], leftColumns: number): string[] {
  const widths: number[] = [];
  for (const line of lines) {
    line.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  return lines.map((line) =>
    line
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column < leftColumns ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

function hasRatios(report: Report): boolean {
  return Object.values(report.ratios).some((pairs) => Object.keys(pairs).length > 0);
}

/** The text at the end of a run: numbers, ratios (above 1: Troupe is better), missing rows. */
export function textTable(report: Report): string {
  const grid = gridOf(report);
  const parts = [`${report.suite}, scale ${report.scale}: ${report.machine}`, ''];
  parts.push(...align([['benchmark', 'unit', ...grid.systems], ...cells(grid)], 2));
  if (hasRatios(report)) {
    parts.push('', 'ratios (above 1: the first system is better)');
    parts.push(...align([['benchmark', ...grid.systems], ...ratioCells(report, grid)], 1));
  }
  const lines = (title: string, missingRows: Report['skipped']): void => {
    const seen = new Set(
      missingRows.map(
        ({ benchmark, system, reason }) => `${benchmark} · ${system}: ${reason.split('\n')[0]}`,
      ),
    );
    if (seen.size > 0) parts.push('', title, ...[...seen].map((line) => `  ${line}`));
  };
  lines(
    'skipped',
    report.skipped.filter(({ benchmark }) => benchmark === '*'),
  );
  lines('refused', report.refused);
  return parts.join('\n');
}

function markdownTable(lines: readonly (readonly string[])[], leftColumns: number): string[] {
  const [head = [], ...body] = lines;
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  const rule = `|${head.map((_, column) => (column < leftColumns ? '---' : '--:')).join('|')}|`;
  return [line(head), rule, ...body.map(line)];
}

/** The report as Markdown: numbers, ratios, notes, missing rows. */
export function markdown(report: Report): string {
  const grid = gridOf(report);
  const parts = [`Suite \`${report.suite}\`, scale ${report.scale}, ${report.date}. ${report.machine}.`, ''];
  parts.push(...markdownTable([['benchmark', 'unit', ...grid.systems], ...cells(grid)], 2));
  if (hasRatios(report)) {
    parts.push('', 'Ratios; above 1 the first system is better:', '');
    parts.push(
      ...markdownTable(
        [['benchmark', ...grid.systems.map((name) => `/ ${name}`)], ...ratioCells(report, grid)],
        1,
      ),
    );
  }
  const notes = Object.entries(report.notes);
  if (notes.length > 0) parts.push('', ...notes.map(([name, note]) => `- \`${name}\`: ${note}.`));
  const missing = [...report.skipped.filter(({ benchmark }) => benchmark === '*'), ...report.refused];
  if (missing.length > 0) {
    parts.push('', 'Not in the table:', '');
    parts.push(
      ...missing.map(
        ({ benchmark, system, reason }) => `- ${benchmark} on ${system}: ${reason.split('\n')[0]}`,
      ),
    );
  }
  return `${parts.join('\n')}\n`;
}
