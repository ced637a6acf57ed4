import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { htmlPage } from '../report/html-page.js';
import { lineCharts } from '../report/line-chart.js';
import { markdown } from '../report/table.js';
import type { Report } from '../runner/report.js';
import { UsageError } from '../runner/usage-error.js';
import type { Outputs } from './parse-arguments.js';
import type { Print } from './print.js';

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(resolve(file)), { recursive: true });
  await writeFile(file, text);
}

/** Writes the requested files and prints their paths. */
export async function writeOutputs(outputs: Outputs, report: Report, print: Print): Promise<void> {
  if (outputs.json !== undefined) await write(outputs.json, `${JSON.stringify(report, null, 2)}\n`);
  if (outputs.html !== undefined) await write(outputs.html, htmlPage(report));
  if (outputs.md !== undefined) await write(outputs.md, markdown(report));
  if (outputs.svg !== undefined) {
    const picture = lineCharts(report);
    if (picture === '') throw new UsageError('--svg: no benchmark has rows of three sizes or more');
    await write(outputs.svg, picture);
  }
  for (const file of [outputs.json, outputs.html, outputs.md, outputs.svg])
    if (file !== undefined) print(`wrote ${file}`);
}
