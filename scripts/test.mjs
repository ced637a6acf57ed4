// npm test: every check of the project, then one line `N passed, N failed`.
//   npm test                        everything
//   npm test -- core wal/recovery   only the unit tests whose path contains one of these
//   --timeout=SECONDS               limit per file and example (also TROUPE_TEST_TIMEOUT_S); default 60
//   --jobs=N                        test files at a time; default 2
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { examples, runExample } from './check/examples.mjs';
import { packAll, packages, packFolder, tryPackage, useAll } from './check/packs.mjs';
import { Tally } from './check/tally.mjs';
import { isPlainFile, selectTests } from './check/test-files.mjs';
import { runUnit } from './check/unit.mjs';
import { checkUnused, unusedSkipReason } from './check/unused.mjs';
import { node, tool } from './command.mjs';
import { esbuildMinified, tryBundler } from './runtimes/bundlers.mjs';
import { canRequire, tryRequire } from './runtimes/packed-packages.mjs';
import { root } from './workspace.mjs';

const { values, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: { timeout: { type: 'string' }, jobs: { type: 'string' } },
});
const timeoutMs = 1000 * positive('timeout', values.timeout ?? process.env['TROUPE_TEST_TIMEOUT_S'] ?? '60');
const parallel = positive('jobs', values.jobs ?? '2');
const tally = new Tally();

await main();
process.exitCode = tally.end();

async function main() {
  const files = selectTests(filters);
  if (files.length === 0) {
    const problem = `no test file matches ${filters.join(' ')}`;
    return tally.add('unit tests', { passed: 0, failed: 1, seconds: 0, problem, output: '' });
  }
  if (filters.length > 0 && filters.every(isPlainFile)) return unit(files);
  if (!(await stage('build and type tests', () => build([])))) return;
  if (filters.length > 0) return unit(files);
  await stage('lint and format', () => tool('biome', ['check', '--error-on-warnings']));
  await stage('tidy', () => node(['scripts/tidy.mjs', '--quiet']));
  await unused();
  await unit(files);
  for (const example of examples()) await stage(example.name, () => runExample(example, timeoutMs));
  await packs();
}

/** @param {string} option @param {string} text */
function positive(option, text) {
  const value = Number(text);
  if (value > 0) return value;
  console.error(`test: --${option} must be a number above 0, not ${text}`);
  process.exit(2);
}

/** @param {string} name @param {() => Promise<{ code: number, output: string }>} work @returns {Promise<boolean>} */
async function stage(name, work) {
  tally.show(name);
  const startedAt = performance.now();
  const { code, output } = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  tally.add(name, { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, seconds, output });
  return code === 0;
}

async function unused() {
  const reason = unusedSkipReason();
  if (reason !== undefined) return console.log(`skip unused exports and dependencies: ${reason}`);
  await stage('unused exports and dependencies', checkUnused);
}

/** @param {import('./check/unit.mjs').TestFile[]} files */
async function unit(files) {
  let skipped = 0;
  await runUnit(files, {
    root,
    timeoutMs,
    parallel,
    onStart: ({ name }) => tally.show(name),
    onResult: (result) => {
      skipped += result.skipped;
      if (result.missing !== undefined) return tally.skip(result.name, `it needs ${result.missing}`);
      tally.add(result.name, result, { quiet: true });
    },
  });
  if (skipped > 0)
    console.log(`     ${skipped} tests or files were skipped; TROUPE_REQUIRE=all makes them fail`);
}

async function packs() {
  const folder = packFolder();
  try {
    if (!(await stage('pnpm pack', () => packAll(folder)))) return;
    for (const name of packages()) await stage(`tarball of ${name}`, () => tryPackage(folder, name));
    await stage('tarballs in an empty project', () => useAll(folder));
    await stage('tarballs in a bundle of esbuild', () => tryBundler(esbuildMinified, root, folder));
    if (canRequire()) await stage('tarballs by require', () => tryRequire(process.execPath, folder));
    else console.log(`skip tarballs by require: Node ${process.versions.node} cannot require ESM`);
  } finally {
    folder.remove();
  }
}
