import type { Row } from '../runner/report.js';
import { headlineUnit, headlineValue, withUnit } from './number-format.js';

const barHeight = 20;
const gap = 6;
const left = 96;
const plot = 420;
const right = 110;
const axisHeight = 20;
const logFrom = 20;

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export interface Scale {
  readonly log: boolean;
  /** The position of a value on the axis, from 0 to the width of the plot. */
  readonly at: (value: number) => number;
  /** Values of the grid lines: decades, or round steps. */
  readonly ticks: readonly number[];
}

function decades(from: number, to: number): number[] {
  const first = Math.ceil(from);
  const every = Math.max(1, Math.ceil((to - first) / 6));
  const count = Math.max(0, Math.floor((to - first) / every) + 1);
  return Array.from({ length: count }, (_, index) => 10 ** (first + index * every));
}

function roundSteps(most: number): number[] {
  const size = 10 ** Math.floor(Math.log10(most));
  const step = [0.2, 0.5, 1, 2].map((part) => part * size).find((part) => most / part <= 5) ?? most;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

/** Linear as long as the smallest bar is visible beside the largest, else logarithmic. */
export function scaleOf(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0);
  const most = Math.max(...positive, Number.MIN_VALUE);
  const least = Math.min(...positive, most);
  if (most / least < logFrom) {
    return { log: false, at: (value) => (Math.max(0, value) / most) * plot, ticks: roundSteps(most) };
  }
  // The axis begins half a decade below the smallest value, which therefore has a bar.
  const floor = Math.log10(least) - 0.5;
  const span = Math.log10(most) - floor;
  const at = (value: number): number =>
    value <= 0 ? 0 : Math.max(0, ((Math.log10(value) - floor) / span) * plot);
  return { log: true, at, ticks: decades(floor, floor + span) };
}

function colour(system: string): string {
  if (system.startsWith('troupe')) return 'ours';
  return system === 'floor' || system === 'idle' || system === 'plain' ? 'floor' : 'peer';
}

function bar(row: Row, index: number, at: (value: number) => number): string {
  const y = index * (barHeight + gap);
  const middle = y + barHeight / 2;
  const value = headlineValue(row);
  const [low, high] = [left + at(row.low), left + at(row.high)];
  const [from, to] = [low.toFixed(1), high.toFixed(1)];
  const spread = `${withUnit(row, row.low)} to ${withUnit(row, row.high)}, ${row.samples} samples`;
  const title = escapeHtml(`${row.system}: ${withUnit(row, value)} ${headlineUnit(row)}, ${spread}`);
  return [
    `<text class="name" x="${left - 8}" y="${middle}">${escapeHtml(row.system)}</text>`,
    `<rect class="${colour(row.system)}" x="${left}" y="${y}" width="${Math.max(1, at(value)).toFixed(1)}"`,
    ` height="${barHeight}" rx="2"><title>${title}</title></rect>`,
    `<path class="spread" d="M${from} ${middle}H${to}M${from} ${middle - 4}v8M${to} ${middle - 4}v8"/>`,
    `<text class="value" x="${(Math.max(left + at(value), high) + 6).toFixed(1)}" y="${middle}">`,
    `${escapeHtml(withUnit(row, value))}</text>`,
  ].join('');
}

function axis(first: Row, { at, ticks }: Scale, height: number): string {
  return ticks
    .map((tick) => {
      const x = (left + at(tick)).toFixed(1);
      const label = escapeHtml(tick === 0 ? '0' : withUnit(first, tick).replace(/\.0+(?=\D|$)/, ''));
      return `<path class="tick" d="M${x} 0V${height}"/><text class="label" x="${x}" y="${height + 10}">${label}</text>`;
    })
    .join('');
}

/** One bar with its spread per system, best first. */
export function barChart(rows: readonly Row[]): { svg: string; log: boolean } {
  const higherIsBetter = rows[0]?.headline === 'opsPerSecond';
  const sorted = [...rows].sort((a, b) => (headlineValue(b) - headlineValue(a)) * (higherIsBetter ? 1 : -1));
  const scale = scaleOf(sorted.flatMap((row) => [row.low, row.high, headlineValue(row)]));
  const bottom = sorted.length * (barHeight + gap);
  const [width, height] = [left + plot + right, bottom + axisHeight];
  const lines = sorted[0] === undefined ? '' : axis(sorted[0], scale, bottom);
  const bars = sorted.map((row, index) => bar(row, index, scale.at)).join('\n');
  const svg = `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">\n${lines}\n${bars}\n</svg>`;
  return { svg, log: scale.log };
}
