// Bar charts of docs/benchmarks.md from a recorded run, after `npm run build`:
//   node docs/images/draw-bars.mjs bench/results/<run>.json out.svg <benchmark>...
import { readFileSync, writeFileSync } from 'node:fs';
import { barChart, escapeHtml } from '../../bench/dist/report/bar-chart.js';
import { headlineUnit } from '../../bench/dist/report/number-format.js';

const [input, output, ...benchmarks] = process.argv.slice(2);
if (input === undefined || output === undefined || benchmarks.length === 0) {
  throw new Error('usage: draw-bars.mjs <recorded run> <svg> <benchmark>...');
}

const style = `text { font: 13px system-ui, sans-serif; fill: #5d6572; dominant-baseline: central; }
.title, .name { fill: #1c1f24; } .title { font-weight: 600; } .name { text-anchor: end; } .paper { fill: #fbfbf9; }
.ours { fill: #c2410c; } .peer { fill: #64748b; } .floor { fill: #b8c0cc; } .tick { stroke: #e2e2dc; }
.label { font-size: 10px; text-anchor: middle; } .source { font-size: 11px; } .spread { stroke: #1c1f24; fill: none; opacity: .55; }`;

const [width, margin, titleHeight] = [626, 12, 30];
const report = JSON.parse(readFileSync(input, 'utf8'));
const panels = [];
let bottom = margin;
for (const benchmark of benchmarks) {
  const rows = report.rows.filter((row) => row.benchmark === benchmark);
  if (rows.length === 0) throw new Error(`${input} has no row ${benchmark}`);
  const { svg, log } = barChart(rows);
  const better = rows[0].headline === 'opsPerSecond' ? 'more is better' : 'less is better';
  const title = `${benchmark}: ${headlineUnit(rows[0])}, ${better}${log ? ', logarithmic' : ''}`;
  panels.push(`<text class="title" x="${margin}" y="${bottom + 10}">${escapeHtml(title)}</text>`);
  panels.push(svg.replace('<svg ', `<svg y="${bottom + titleHeight}" `));
  bottom += titleHeight + Number(/ height="(\d+)"/.exec(svg)?.[1]) + margin;
}
const source = [
  `Suite ${report.suite}, ${report.date}; marks from the 10th to the 90th percentile`,
  report.machine,
].map(
  (line, at) => `<text class="source" x="${margin}" y="${bottom + 4 + 16 * at}">${escapeHtml(line)}</text>`,
);
const height = bottom + 36;
writeFileSync(
  output,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<style>${style}</style><rect class="paper" width="${width}" height="${height}"/>
${panels.join('\n')}
${source.join('')}</svg>
`,
);
