import type { Row } from '../runner/report.js';
import { headlineUnit, headlineValue, withUnit } from './figure.js';

const barHeight = 20;
const gap = 6;
const left = 96;
const plot = 420;
const right = 110;
const logFrom = 20;

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Where a value lies on the bar's axis, from 0 to `plot`. */
export function scaleOf(values: readonly number[]): { log: boolean; at: (value: number) => number } {
  const positive = values.filter((value) => value > 0);
  const most = Math.max(...positive, Number.MIN_VALUE);
  const least = Math.min(...positive, most);
  if (most / least < logFrom) return { log: false, at: (value) => (Math.max(0, value) / most) * plot };
  // Half a decade below the smallest, so that it still has a bar.
  const floor = Math.log10(least) - 0.5;
  const span = Math.log10(most) - floor;
  return {
    log: true,
    at: (value) => (value <= 0 ? 0 : Math.max(0, ((Math.log10(value) - floor) / span) * plot)),
  };
}

function bar(row: Row, index: number, at: (value: number) => number): string {
  const y = index * (barHeight + gap);
  const value = headlineValue(row);
  const middle = y + barHeight / 2;
  const [low, high] = [at(row.low), at(row.high)].map((x) => left + x);
  const kind =
    row.system === 'troupe' ? 'ours' : row.system === 'floor' || row.system === 'idle' ? 'floor' : 'peer';
  return [
    `<text class="name" x="${left - 8}" y="${middle}">${escapeHtml(row.system)}</text>`,
    `<rect class="${kind}" x="${left}" y="${y}" width="${Math.max(1, at(value)).toFixed(1)}" height="${barHeight}" rx="2">`,
    `<title>${escapeHtml(`${row.system}: ${withUnit(row, value)} ${headlineUnit(row)}, ${withUnit(row, row.low)} to ${withUnit(row, row.high)}, ${row.samples} samples`)}</title></rect>`,
    `<path class="spread" d="M${low?.toFixed(1)} ${middle}H${high?.toFixed(1)}M${low?.toFixed(1)} ${middle - 4}v8M${high?.toFixed(1)} ${middle - 4}v8"/>`,
    `<text class="value" x="${Math.max(left + at(value), high ?? 0) + 6}" y="${middle}">${escapeHtml(withUnit(row, value))}</text>`,
  ].join('');
}

/** Bars with their spread, one per system, best first. */
export function chart(rows: readonly Row[]): { svg: string; log: boolean } {
  const higherIsBetter = rows[0]?.headline === 'opsPerSecond';
  const sorted = [...rows].sort((a, b) => (headlineValue(b) - headlineValue(a)) * (higherIsBetter ? 1 : -1));
  const { log, at } = scaleOf(sorted.flatMap((row) => [row.low, row.high, headlineValue(row)]));
  const height = sorted.length * (barHeight + gap);
  const width = left + plot + right;
  const bars = sorted.map((row, index) => bar(row, index, at)).join('\n');
  const svg = `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">\n${bars}\n</svg>`;
  return { svg, log };
}
