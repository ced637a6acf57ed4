import type { Row } from '../runner/report.js';

const thin = ' ';

/** Three significant digits with a metric prefix: 49.2 M, 812 k, 31. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const steps: readonly [number, string][] = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ];
  for (const [size, letter] of steps) {
    if (Math.abs(value) >= size) return `${significant(value / size)}${thin}${letter}`;
  }
  return significant(value);
}

export function significant(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 1 || size === 0) return value.toFixed(2);
  return value.toPrecision(2);
}

/** The headline number of a row, by which systems are compared. */
export function headlineValue(row: Row): number {
  const value = row[row.headline];
  return typeof value === 'number' ? value : Number.NaN;
}

export function headlineUnit(row: Row): string {
  if (row.headline === 'opsPerSecond') return `${row.unit}/s`;
  if (row.headline === 'heapBytes') return `B/${row.unit.replace(/s$/, '')}`;
  return `ms ${row.headline}`;
}

export function withUnit(row: Row, value: number): string {
  if (row.headline === 'opsPerSecond') return short(value);
  return row.headline === 'heapBytes' ? Math.round(value).toString() : significant(value);
}

/** `49.2 M messages/s (47.1 M – 50.0 M)` */
export function headlineText(row: Row): string {
  const value = `${withUnit(row, headlineValue(row))} ${headlineUnit(row)}`;
  const spread = `${withUnit(row, row.low)} to ${withUnit(row, row.high)}`;
  const latency = row.headline === 'opsPerSecond' && row.p50 !== undefined && row.p99 !== undefined;
  return `${value}  (${spread}${latency ? `; p50 ${significant(row.p50)} p99 ${significant(row.p99)} ms` : ''})`;
}
