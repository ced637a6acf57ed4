// Runs test files, a process each: what one file leaves behind cannot help or hurt the next.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suiteProblems } from '../tidy/test-hygiene.mjs';
import { runLimited } from './limited.mjs';
import { isRequired, missingNeeds, unknownNeeds } from './needs.mjs';

const childScript = fileURLToPath(new URL('unit-child.mjs', import.meta.url));

/**
 * @typedef {object} TestFile
 * @property {string} name what people call it: the path of the source
 * @property {string} path what is run: the compiled file
 * @property {string} source text of the source, for its directives
 *
 * @typedef {object} FileResult
 * @property {string} name
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {number} seconds
 * @property {string} [problem] why it failed
 * @property {string} [missing] what it needs and this machine does not have: it did not run
 * @property {string} output
 *
 * @typedef {object} UnitOptions
 * @property {string} root
 * @property {number} timeoutMs per file, unless the file asks for another
 * @property {number} [slowness] every time limit is so many times as long; 1, unless given
 * @property {number} parallel
 * @property {readonly [string, ...string[]]} [command] runs a module; this Node, unless given
 * @property {(result: FileResult) => void} onResult
 * @property {(file: TestFile) => void} [onStart]
 */

/**
 * A first line such as `// timeout: 300s, alone` gives a file more time, or the machine to itself;
 * `// needs: postgresql flock` names what must be installed, last in the line.
 * @param {string} source
 */
export function directivesOf(source) {
  const first = /^\/\/(.*)/.exec(source)?.[1] ?? '';
  const seconds = /\btimeout: *(\d+) ?s\b/.exec(first)?.[1];
  return {
    timeoutMs: seconds === undefined ? undefined : Number(seconds) * 1000,
    alone: /\balone\b/.test(first),
    needs: (/\bneeds: *([\w -]+)$/.exec(first.trim())?.[1] ?? '').split(' ').filter((need) => need !== ''),
  };
}

/** @param {TestFile[]} files @param {UnitOptions} options */
export async function runUnit(files, options) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-unit-'));
  let count = 0;
  const work = async (/** @type {TestFile[]} */ queue) => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      options.onStart?.(file);
      count += 1;
      options.onResult(await runFile(file, join(folder, `${count}.json`), options));
    }
  };
  try {
    const alone = files.filter((file) => directivesOf(file.source).alone);
    const others = files.filter((file) => !alone.includes(file));
    await Promise.all(Array.from({ length: options.parallel }, () => work(others)));
    await work(alone);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {TestFile} file @param {string} reportPath @param {UnitOptions} options @returns {Promise<FileResult>} */
async function runFile(file, reportPath, options) {
  const { needs, timeoutMs: limitMs = options.timeoutMs } = directivesOf(file.source);
  const timeoutMs = limitMs * (options.slowness ?? 1);
  const missing = missingNeeds(needs).join('; ');
  if (missing !== '') return notRun(file, needs, missing);
  const [program, ...args] = options.command ?? [process.execPath, '--enable-source-maps'];
  const ending = await runLimited(program, [...args, childScript, file.path, reportPath], {
    cwd: options.root,
    timeoutMs,
  });
  const report = readReport(reportPath);
  const problem = problemOf(ending, report, timeoutMs) ?? suiteProblems(file.source)[0]?.text;
  const failedTests = report === undefined ? 0 : report.total - report.passed;
  return {
    name: file.name,
    passed: report?.passed ?? 0,
    failed: problem !== undefined && failedTests === 0 ? 1 : failedTests,
    skipped: report?.skipped ?? 0,
    seconds: ending.seconds,
    output: ending.output,
    ...(problem === undefined ? {} : { problem }),
  };
}

/**
 * Skipped, unless it is required or needs something unheard of.
 * @param {TestFile} file @param {readonly string[]} needs @param {string} missing @returns {FileResult}
 */
function notRun({ name }, needs, missing) {
  const none = { name, passed: 0, seconds: 0, output: '' };
  const mustRun = isRequired(needs) || unknownNeeds(needs).length > 0;
  if (mustRun) return { ...none, failed: 1, skipped: 0, problem: `it needs ${missing}` };
  return { ...none, failed: 0, skipped: 1, missing };
}

/** @typedef {{ suites: number, passed: number, skipped: number, total: number }} Report */

/** @param {string} path @returns {Report | undefined} */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @param {import('./limited.mjs').Ending} ending @param {Report | undefined} report @param {number} timeoutMs */
function problemOf(ending, report, timeoutMs) {
  if (ending.timedOut)
    return `not finished after ${timeoutMs / 1000} s (a first line "// timeout: 300s" allows more)`;
  if (report === undefined && ending.code === 13)
    return 'a promise that a test awaits never settles (exit code 13)';
  if (report === undefined) return `ended before its tests did (exit code ${ending.code})`;
  if (report.suites === 0) return 'no suite ran: is .run() missing?';
  if (report.total === 0) return 'no test ran';
  if (report.passed < report.total) return `${report.total - report.passed} of ${report.total} tests failed`;
  if (ending.code !== 0) return `exit code ${ending.code}`;
  return undefined;
}
