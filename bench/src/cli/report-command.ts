import { readFile, writeFile } from 'node:fs/promises';
import { replaceBlock } from '../report/replace-block.js';
import { markdown, textTable } from '../report/table.js';
import type { Report } from '../runner/report.js';
import { UsageError } from '../runner/usage-error.js';
import type { ReportCommand } from './parse-arguments.js';
import type { Print } from './print.js';
import { writeOutputs } from './write-outputs.js';

async function readReport(file: string): Promise<Report> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== 'object' || value === null || !('rows' in value) || !('suite' in value)) {
    throw new UsageError(`${file}: not a recorded run`);
  }
  // Written by this runner; fields that older files lack get empty values.
  const report = value as Report;
  return {
    ...report,
    notes: report.notes ?? {},
    intervals: report.intervals ?? {},
    skipped: report.skipped ?? [],
    refused: report.refused ?? [],
  };
}

/** Prints recorded runs again: on the terminal, into files, into a Markdown page. */
export async function reportCommand(command: ReportCommand, print: Print): Promise<number> {
  for (const file of command.files) {
    const report = await readReport(file);
    if (command.into === undefined) print(textTable(report));
    else {
      const page = await readFile(command.into, 'utf8').catch(() => {
        throw new UsageError(`--into ${command.into}: no such file`);
      });
      await writeFile(command.into, replaceBlock(page, report.suite, markdown(report)));
      print(`wrote suite ${report.suite} into ${command.into}`);
    }
    await writeOutputs(command.outputs, report, print);
  }
  return 0;
}
