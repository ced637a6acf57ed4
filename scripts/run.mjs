// The bootstrap behind every npm script: on a machine with only git, Node and npm it checks the Node version, installs,
// builds, and then does the task.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { manifestOf, root } from './workspace.mjs';

const [task = '', ...args] = process.argv.slice(2);

/** @type {Record<string, () => Promise<number>>} */
const tasks = {
  start: () => runBuilt('docs/examples', 'docs/examples/.test/start.js'),
  damage: () => runBuilt('packages/wal/test', 'packages/wal/.test/damage/damage-command.js'),
  histories: () =>
    runBuilt('packages/core/test', 'packages/core/.test/mailbox/wait-histories/histories-command.js'),
  chaos: () =>
    args.includes('--postgres')
      ? runBuilt('packages/postgres/test', 'packages/postgres/.test/chaos/chaos-command.js')
      : runBuilt('packages/jobs/test', 'packages/jobs/.test/chaos/chaos-command.js'),
  'thread-chaos': () =>
    runBuilt('packages/threads/test', 'packages/threads/.test/chaos/thread-chaos-command.js'),
  fuzz: () =>
    args.includes('--http')
      ? runBuilt('packages/dashboard/test', 'packages/dashboard/.test/fuzz/http-fuzz-command.js')
      : runBuilt('packages/jobs/test', 'packages/jobs/.test/fuzz/fuzz-command.js'),
  simulate: () => runBuilt('packages/jobs/test', 'packages/jobs/.test/sim/simulate-command.js'),
  bench: () => runBuilt('bench', 'bench/dist/main.js'),
  build: () => buildOrExplain([]),
  lint: () => lint(),
  tidy: () => runScript('scripts/tidy.mjs'),
  reference: () => runScript('scripts/reference.mjs'),
  unused: () => runScript('scripts/unused.mjs'),
  runtimes: () => runScript('scripts/runtimes.mjs'),
  'browser-tests': () => runScript('scripts/browser-tests.mjs'),
  pack: () => runScript('scripts/pack.mjs'),
  test: () => runScript('scripts/test.mjs'),
};

// A reader that has seen enough (`npm start | head`) is no failure.
process.stdout.on('error', (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EPIPE') process.exit(0);
  throw error;
});

process.chdir(root);
process.exitCode = await main();

async function main() {
  const wrong = wrongNode();
  if (wrong !== undefined) return complain(wrong);
  const action = tasks[task];
  if (action === undefined)
    return complain(`run: no task "${task}"; there are ${Object.keys(tasks).join(', ')}`);
  const { install } = await import('./install.mjs');
  if (!(await install())) return 1;
  return action();
}

/** @param {string} line */
function complain(line) {
  console.error(line);
  return 1;
}

function wrongNode() {
  const least = manifestOf('.').engines?.node.replace('>=', '') ?? '0';
  const [major = 0, minor = 0] = least.split('.').map(Number);
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return undefined;
  return `Troupe needs Node ${least} or newer; this is Node ${process.versions.node}`;
}

/** @param {string[]} projects */
async function buildOrExplain(projects) {
  const { build } = await import('./build.mjs');
  const { code, output } = await build(projects);
  if (code !== 0) console.error(`${output.trimEnd()}\nbuild: tsc ended with ${code}`);
  return code;
}

/** @param {string} project @param {string} script */
async function runBuilt(project, script) {
  const code = await buildOrExplain([project]);
  if (code !== 0) return code;
  if (!existsSync(join(root, script))) return complain(`${task}: ${script} does not exist`);
  return runScript(script);
}

/**
 * In this process and not in a child, so that Ctrl-C and the exit code belong to the script.
 * @param {string} script
 */
async function runScript(script) {
  const path = join(root, script);
  process.argv = [process.execPath, path, ...args];
  await import(pathToFileURL(path).href);
  return Number(process.exitCode ?? 0);
}

async function lint() {
  const { tool } = await import('./command.mjs');
  const { code, output } = await tool('biome', ['check', ...args]);
  process.stdout.write(output);
  return code;
}
