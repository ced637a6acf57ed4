// Runs one uvu file and writes down what happened. uvu's own exit code is not to be trusted (adr/0003), so its suites
// are taken from its queue, run here, and their numbers reported; no report means that the file did not get to its end.
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [file = '', reportPath = ''] = process.argv.slice(2);
const idleMsMax = 3_000;

/** @typedef {[errors: string | true, passed: number, skipped: number, total: number]} SuiteResult */
const queue = /** @type {(() => Promise<SuiteResult>)[]} */ ([]);

process.argv.splice(1, 3, file);
Object.assign(globalThis, { UVU_DEFER: 1, UVU_INDEX: 0, UVU_QUEUE: [queue] });
await import(pathToFileURL(file).href);

const report = { suites: 0, passed: 0, skipped: 0, total: 0 };
for (const runSuite of queue) {
  const [errors, passed, skipped, total] = await runSuite();
  report.suites += 1;
  report.passed += passed;
  report.skipped += skipped;
  report.total += total;
  if (errors !== true) process.stdout.write(`\n${errors}\n`);
  else if (passed < total)
    process.stdout.write('uvu ended this suite early: a hook threw, or a test threw a non-Error\n');
}
writeFileSync(reportPath, JSON.stringify(report));

// Fires only if the loop is still alive: something was left open.
setTimeout(() => {
  process.stdout.write(`still open after the last test: ${process.getActiveResourcesInfo().join(', ')}\n`);
  process.exit(1);
}, idleMsMax).unref();
