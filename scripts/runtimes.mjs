// npm run runtimes: the project on other runtimes, through bundlers and under other compilers.
//   npm run runtimes                        everything: Node 22 and 24 run all tests, which takes a while
//   npm run runtimes -- --only node-22      all tests on this runtime; at the end one line that can be recorded
//   npm run runtimes -- --only bun,deno     only these
//   npm run runtimes -- --filter core,wal   only the tests whose path contains one of these
//   npm run runtimes -- --jobs 1            test files at a time; default 2
// The runtimes come from the npm registry, into .runtimes; what cannot be had is skipped with a printed reason.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { packAll, packages, packFolder, tryPackage } from './check/packs.mjs';
import { Tally } from './check/tally.mjs';
import { selectTests } from './check/test-files.mjs';
import { runUnit } from './check/unit.mjs';
import { bundlers, tryBundler } from './runtimes/bundlers.mjs';
import { tryNewestTypes, tryOldestCompiler, tryRequire } from './runtimes/packed-packages.mjs';
import { provide } from './runtimes/provide.mjs';
import { RuntimeRecord } from './runtimes/runtime-record.mjs';
import { isForRuntime, runtimes, skipReason } from './runtimes/runtimes.mjs';
import { testRunners, tryTestRunner } from './runtimes/test-runners.mjs';
import { root } from './workspace.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string' }, filter: { type: 'string' }, jobs: { type: 'string' } },
});
const wanted = values.only?.split(',');
const tally = new Tally();
/** @type {RuntimeRecord[]} */
const records = [];
/** Time limits are for a machine of its own; a run that takes this long shares its machine. */
const SLOWNESS = 3;

let isFinished = false;
// A run that is stopped before its end says how far it has come.
process.once('exit', () => {
  if (!isFinished) for (const record of records) console.log(`not finished: ${record}`);
});

await main();
isFinished = true;
for (const record of records) console.log(`\n${record}`);
process.exitCode = tally.end();

async function main() {
  if (!(await check('build', () => build([])))) return;
  for (const runtime of runtimes) if (isWanted(runtime.name)) await testRuntime(runtime);
  if (![...bundlers.map(({ name }) => name), 'vitest', 'typescript', 'require'].some(isWanted)) return;
  const folder = packFolder();
  try {
    if (!(await check('pack', () => packAll(folder)))) return;
    for (const name of packages())
      if (!(await check(`unpack ${name}`, () => tryPackage(folder, name)))) return;
    for (const bundler of bundlers)
      if (isWanted(bundler.name)) await provided(bundler, (at) => tryBundler(bundler, at, folder));
    if (isWanted('vitest'))
      await provided({ name: 'vitest', spec: 'vitest' }, (at) =>
        tryTestRunner(testRunners.vitest, at, folder.path),
      );
    if (isWanted('typescript'))
      await provided({ name: 'typescript', spec: 'typescript@5.7' }, (at) => tryOldestCompiler(at, folder));
    if (isWanted('typescript'))
      await provided({ name: 'types of Node', spec: '@types/node@26' }, (at) => tryNewestTypes(at, folder));
    for (const version of [22, 24])
      if (isWanted('require'))
        await provided({ name: `require by Node ${version}`, spec: `node@${version}` }, (at) =>
          tryRequire(join(at, 'node_modules/.bin/node'), folder),
        );
  } finally {
    folder.remove();
  }
}

/** @param {string} name */
function isWanted(name) {
  return wanted === undefined || wanted.includes(name);
}

/** @param {string} name @param {() => Promise<import('./command.mjs').Outcome>} work */
async function check(name, work) {
  const startedAt = performance.now();
  const { code, output } = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  tally.add(name, { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, seconds, output });
  return code === 0;
}

/**
 * @param {{ name: string, spec: string }} thing @param {(folder: string) => Promise<import('./command.mjs').Outcome>} work
 */
async function provided({ name, spec }, work) {
  const { folder, problem } = await provide(spec);
  if (folder === undefined) return tally.skip(name, problem);
  await check(name, () => work(folder));
}

/** @param {import('./runtimes/runtimes.mjs').Runtime} runtime */
async function testRuntime(runtime) {
  const { folder, problem } = await provide(runtime.spec);
  if (folder === undefined) return tally.skip(runtime.name, problem);
  const files = selectTests(values.filter?.split(',') ?? []).filter((file) => isForRuntime(runtime, file));
  const record = await RuntimeRecord.of(runtime, folder);
  records.push(record);
  const runnable = files.filter((file) => {
    const reason = skipReason(runtime, file);
    if (reason !== undefined) {
      tally.skip(`${runtime.name} ${file.name}`, reason);
      record.notRun();
    }
    return reason === undefined;
  });
  await runUnit(runnable, {
    root,
    timeoutMs: 60_000,
    slowness: SLOWNESS,
    parallel: Number(values.jobs ?? 2),
    command: runtime.command(folder),
    onResult: (result) => {
      const name = `${runtime.name} ${result.name}`;
      if (result.missing !== undefined) {
        tally.skip(name, `it needs ${result.missing}`);
        record.notRun();
        return;
      }
      tally.add(name, result, { quiet: true });
      record.add(result);
    },
  });
}
