import type { Report } from '../runner/report.js';
import { barChart, escapeHtml } from './bar-chart.js';
import { significant } from './number-format.js';
import { type GridLine, gridOf } from './table.js';

const style = `
:root { color-scheme: light dark; --ink: #1c1f24; --soft: #5d6572; --paper: #fbfbf9; --card: #fff; --rule: #e2e2dc;
  --ours: #c2410c; --peer: #64748b; --floor: #b8c0cc; --good: #15803d; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --soft: #9aa3b0; --paper: #15171a; --card: #1d2025;
  --rule: #32363d; --ours: #f97316; --peer: #7c8aa0; --floor: #4b5563; --good: #4ade80; --bad: #f87171; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1360px; padding: 2rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.6rem; } h2 { margin: 2.5rem 0 .75rem; font-size: 1.1rem; }
h3 { margin: 0; font-size: 1rem; } .meta, .unit, .note { color: var(--soft); } .meta { margin: .25rem 0 1.25rem; }
.unit { font-size: .82rem; margin: 0 0 .6rem; } .note { font-size: .82rem; margin: .5rem 0 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 560px), 1fr)); gap: 1rem; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 1rem; overflow-x: auto; }
svg { max-width: 100%; height: auto; } svg text { font: 13px system-ui, sans-serif; dominant-baseline: central; }
.name { text-anchor: end; fill: var(--ink); } .value { fill: var(--soft); font-variant-numeric: tabular-nums; }
.ours { fill: var(--ours); } .peer { fill: var(--peer); } .floor { fill: var(--floor); }
.tick { stroke: var(--rule); } svg .label { fill: var(--soft); font-size: 10px; text-anchor: middle; }
.spread { stroke: var(--ink); stroke-width: 1.2; fill: none; opacity: .55; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } ul { padding-left: 1.2rem; }
`;

function card(line: GridLine, note: string | undefined): string {
  const { svg, log } = barChart([...line.rows.values()]);
  const first = [...line.rows.values()][0];
  const direction = first?.headline === 'opsPerSecond' ? 'more is better' : 'less is better';
  const caption = `${line.unit}, ${direction}${log ? ', logarithmic scale' : ''}`;
  const footnote = note === undefined ? '' : `<p class="note">${escapeHtml(note)}</p>`;
  return `<section class="card"><h3>${escapeHtml(line.benchmark)}</h3><p class="unit">${escapeHtml(caption)}</p>${svg}${footnote}</section>`;
}

function cards(report: Report): string {
  const { lines } = gridOf(report);
  const groups = [...new Set(lines.map((line) => line.group))];
  return groups
    .map((group) => {
      const inside = lines.filter((line) => line.group === group);
      const heading = group === '' ? '' : `<h2>${escapeHtml(group)}</h2>`;
      const content = inside.map((line) => card(line, report.notes[line.benchmark])).join('\n');
      return `${heading}<div class="cards">\n${content}\n</div>`;
    })
    .join('\n');
}

function ratioTable(report: Report): string {
  const names = [...new Set(Object.values(report.ratios).flatMap((pairs) => Object.keys(pairs)))];
  if (names.length === 0) return '';
  const lines = Object.entries(report.ratios).map(([benchmark, pairs]) => {
    const cells = names.map((name) => {
      const value = pairs[name];
      if (value === undefined) return '<td></td>';
      const interval = report.intervals[benchmark]?.[name];
      const title =
        interval === undefined
          ? ''
          : ` title="95 %: ${significant(interval[0])} to ${significant(interval[1])}"`;
      return `<td class="${value >= 1 ? 'good' : 'bad'}"${title}>${significant(value)}</td>`;
    });
    return `<tr><td>${escapeHtml(benchmark)}</td>${cells.join('')}</tr>`;
  });
  const head = names.map((name) => `<th>${escapeHtml(name)}</th>`).join('');
  return `<h2>Ratios (above 1: the first system is better)</h2><div class="scroll"><table><tr><th></th>${head}</tr>
${lines.join('\n')}</table></div>`;
}

function missingRowList(title: string, list: Report['skipped']): string {
  if (list.length === 0) return '';
  const items = list.map(
    ({ benchmark, system, reason }) =>
      `<li>${escapeHtml(`${benchmark} on ${system}: ${reason.split('\n')[0] ?? ''}`)}</li>`,
  );
  return `<h2>${title}</h2><ul>${items.join('\n')}</ul>`;
}

/** A self-contained page without external files. */
export function htmlPage(report: Report): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(`${report.suite} – benchmarks`)}</title><style>${style}</style>
<h1>Suite ${escapeHtml(report.suite)}</h1>
<p class="meta">${escapeHtml(`${report.date}, scale ${report.scale}. ${report.machine}.`)} Bars are medians; whiskers span the
10th to the 90th percentile of all samples. A row is shown only if all the work it attempted was completed.</p>
${cards(report)}
${ratioTable(report)}
${missingRowList('Refused', report.refused)}
${missingRowList(
  'Skipped',
  report.skipped.filter(({ benchmark }) => benchmark === '*'),
)}
</html>
`;
}
