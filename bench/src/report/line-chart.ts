import type { Report, Row } from '../runner/report.js';
import { escapeHtml } from './bar-chart.js';
import { headlineUnit, headlineValue, withUnit } from './number-format.js';

const [width, height] = [640, 260];
const [left, right, top, bottom] = [70, 36, 34, 46];
const footHeight = 44;
const pointsMin = 3;

const style = `text { font: 13px system-ui, sans-serif; fill: #5d6572; } .title { fill: #1c1f24; font-weight: 600; }
.tick { stroke: #e2e2dc; } .line { fill: none; stroke: #c2410c; stroke-width: 2; } .point { fill: #c2410c; }
.spread { stroke: #5d6572; stroke-width: 1.2; } .paper { fill: #fbfbf9; } .source { font-size: 11px; } .middle { text-anchor: middle; } .end { text-anchor: end; }`;

interface Point {
  readonly size: number;
  readonly row: Row;
}

/** Rows of one system named `name-<number>` with at least three numbers: the same work at several sizes. */
export function seriesOf(report: Report): Map<string, Point[]> {
  const all = new Map<string, Point[]>();
  for (const row of report.rows) {
    const [, name, size] = /^(.+)-(\d+)$/.exec(row.benchmark) ?? [];
    if (name === undefined || !(headlineValue(row) > 0)) continue;
    const series = `${name} ${row.system}`;
    all.set(series, [...(all.get(series) ?? []), { size: Number(size), row }]);
  }
  for (const [name, points] of all) {
    if (points.length < pointsMin) all.delete(name);
    else points.sort((a, b) => a.size - b.size);
  }
  return all;
}

function highestOf(points: readonly Point[]): number {
  return Math.max(...points.map(({ row }) => Math.max(row.high, headlineValue(row))));
}

/** At most five multiples of a round number, from 0 up. */
function ticksTo(highest: number): number[] {
  const magnitude = 10 ** Math.floor(Math.log10(highest / 4));
  const step = magnitude * ([1, 2, 5, 10].find((factor) => factor * magnitude >= highest / 4) ?? 10);
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, index) => index * step);
}

/** A round number without digits after the point: 50 k. */
function round(value: number): string {
  const [size, letter] = value >= 1e6 ? [1e6, ' M'] : value >= 1e3 ? [1e3, ' k'] : [1, ''];
  return `${Number((value / size).toPrecision(3))}${letter}`;
}

function axesOf(points: readonly Point[]): { x: (size: number) => number; y: (value: number) => number } {
  const sizes = points.map(({ size }) => Math.log10(size));
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const highest = 1.05 * highestOf(points);
  return {
    x: (size) => left + ((Math.log10(size) - least) / Math.max(most - least, 1e-9)) * (width - left - right),
    y: (value) => height - bottom - (value / highest) * (height - top - bottom),
  };
}

function panel(name: string, points: readonly Point[], from: number): string {
  const { x, y } = axesOf(points);
  const [first] = points as [Point, ...Point[]];
  const ticks = ticksTo(highestOf(points)).map(
    (value) =>
      `<path class="tick" d="M${left} ${y(value).toFixed(1)}H${width - right}"/><text class="end" x="${left - 8}" y="${(y(value) + 4).toFixed(1)}">${escapeHtml(round(value))}</text>`,
  );
  const marks = points.map(({ size, row }) => {
    const [at, low, high] = [x(size), y(row.low), y(row.high)].map((value) => value.toFixed(1));
    const middle = y(headlineValue(row)).toFixed(1);
    const title = escapeHtml(`${round(size)}: ${withUnit(row, headlineValue(row))} ${headlineUnit(row)}`);
    return `<path class="spread" d="M${at} ${low}V${high}"/><circle class="point" cx="${at}" cy="${middle}" r="4"><title>${title}</title></circle><text class="middle" x="${at}" y="${height - bottom + 18}">${escapeHtml(round(size))}</text>`;
  });
  const path = points.map(({ size, row }) => `${x(size).toFixed(1)} ${y(headlineValue(row)).toFixed(1)}`);
  const title = `${name}: ${headlineUnit(first.row)} by size`;
  return [
    `<g transform="translate(0 ${from})"><text class="title" x="${left}" y="20">${escapeHtml(title)}</text>`,
    ...ticks,
    `<path class="line" d="M${path.join('L')}"/>`,
    ...marks,
    '</g>',
  ].join('\n');
}

/** An SVG file with a line chart for every series of the report; empty without a series. */
export function lineCharts(report: Report): string {
  const series = [...seriesOf(report)];
  if (series.length === 0) return '';
  const whole = series.length * height + footHeight;
  const marks = 'sizes are logarithmic, marks from the 10th to the 90th percentile';
  const source = `Suite ${report.suite}, ${report.date}, scale ${report.scale}; ${marks}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" width="${width}" height="${whole}" role="img">`,
    `<style>${style}</style><rect class="paper" width="${width}" height="${whole}"/>`,
    ...series.map(([name, points], index) => panel(name, points, index * height)),
    `<text class="source" x="12" y="${whole - 28}">${escapeHtml(source)}</text>`,
    `<text class="source" x="12" y="${whole - 12}">${escapeHtml(report.machine)}</text></svg>`,
    '',
  ].join('\n');
}
