import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scaleOf } from '#src/report/bar-chart.js';
import { htmlPage } from '#src/report/html-page.js';
import { lineCharts, seriesOf } from '#src/report/line-chart.js';
import { headlineText, short } from '#src/report/number-format.js';
import { replaceBlock } from '#src/report/replace-block.js';
import { markdown, textTable } from '#src/report/table.js';
import type { Report } from '#src/runner/report.js';
import { rowWith } from '../case-builders.js';

const reports = suite('report');

const report: Report = {
  suite: 'core',
  machine: 'a <machine>',
  date: '2026-01-02',
  scale: 1,
  rows: [
    rowWith({ system: 'nact', opsPerSecond: 500_000, low: 400_000, high: 600_000 }),
    rowWith({ system: 'troupe', opsPerSecond: 49_200_000, low: 48e6, high: 51e6 }),
    rowWith({
      benchmark: 'memory',
      unit: 'actors',
      headline: 'heapBytes',
      heapBytes: 194,
      low: 190,
      high: 200,
      group: 'size',
    }),
  ],
  ratios: { pingpong: { 'troupe/nact': 98.4 }, memory: {} },
  intervals: { pingpong: { 'troupe/nact': [90, 105] } },
  notes: { memory: 'idle & anonymous' },
  skipped: [{ benchmark: '*', system: 'erlang', reason: 'erl is not installed' }],
  refused: [{ benchmark: 'ring', system: 'nact', reason: 'completed 3 of 4 messages\nat line' }],
};

reports('numbers have three significant digits and a metric prefix', () => {
  assert.is(short(49_200_000), '49.2 M');
  assert.is(short(812), '812');
  assert.is(short(0.123), '0.12');
  assert.is(short(Number.NaN), '–');
  assert.match(headlineText(rowWith({ p50: 1, p99: 2 })), 'p50 1.00 p99 2.00 ms');
});

reports('the text table has Troupe first, then ratios and missing rows', () => {
  const text = textTable(report);
  assert.match(text, /benchmark +unit +troupe +nact/);
  assert.match(text, /pingpong +messages\/s +49\.2 M +500 k/);
  assert.match(text, /memory +B\/actor +194/);
  assert.match(text, /pingpong +98\.4/);
  assert.match(text, '* · erlang: erl is not installed');
  assert.match(text, 'ring · nact: completed 3 of 4 messages');
});

reports('the Markdown has a table, ratios and notes', () => {
  const text = markdown(report);
  assert.match(text, '| pingpong | messages/s | 49.2 M | 500 k |');
  assert.match(text, '| pingpong |  | 98.4 |');
  assert.match(text, '- `memory`: idle & anonymous.');
});

reports('the HTML page has no external references and escapes its texts', () => {
  const page = htmlPage(report);
  assert.not.match(page, /https?:|src=|@import|<script|<link/);
  assert.match(page, 'a &lt;machine&gt;');
  assert.match(page, 'idle &amp; anonymous');
  assert.is((page.match(/<svg/g) ?? []).length, 2);
  assert.match(page, 'logarithmic scale');
  assert.match(page, '95 %: 90.0 to 105');
});

reports('a bar chart is logarithmic only if a linear one would hide bars', () => {
  assert.not(scaleOf([10, 100]).log);
  const wide = scaleOf([1, 1_000]);
  assert.ok(wide.log);
  assert.ok(wide.at(1) > 0);
  assert.ok(wide.at(1) < wide.at(30) && wide.at(30) < wide.at(1_000));
  assert.is(wide.at(0), 0);
});

reports('a generated table replaces only the block of its suite', () => {
  const page =
    'a\n<!-- bench:core -->\nold\n<!-- /bench:core -->\nb\n<!-- bench:wal -->\n<!-- /bench:wal -->\n';
  const replaced = replaceBlock(page, 'core', 'new');
  assert.is(replaced, page.replace('old', 'new'));
  assert.is(replaceBlock(replaced, 'core', 'new'), replaced);
  assert.throws(() => replaceBlock(page, 'jobs', 'new'), /has no '<!-- bench:jobs -->'/);
});

reports('a benchmark with three sizes has a line chart, with points in the order of size', () => {
  const sized = [1_000_000, 1_000, 10_000].map((size, i) =>
    rowWith({ benchmark: `backlog-${size}`, opsPerSecond: 70_000 + i, low: 60_000, high: 80_000 }),
  );
  const pair = [200, 1_000].map((size) => rowWith({ benchmark: `run-${size}` }));
  const many = { ...report, rows: [...sized, ...pair] };
  const series = seriesOf(many);
  assert.equal([...series.keys()].length, 1);
  assert.equal(
    [...series.values()].flat().map(({ size }) => size),
    [1_000, 10_000, 1_000_000],
  );
  const picture = lineCharts(many);
  assert.is(picture.match(/<circle/g)?.length, 3);
  const labels = [...picture.matchAll(/<text class="(?:end|middle)"[^>]*>([^<]+)</g)].map(([, text]) => text);
  assert.equal(labels, ['0', '20 k', '40 k', '60 k', '80 k', '1 k', '10 k', '1 M']);
  assert.match(picture, 'a &lt;machine&gt;');
  assert.not.match(picture, 'NaN');
  assert.is(lineCharts(report), '');
});

reports.run();
