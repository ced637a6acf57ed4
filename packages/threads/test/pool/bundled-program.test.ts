// The pool in a program that esbuild has bundled, and in TypeScript that tsx runs.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const bundles = suite('ThreadPoolExecutor in other forms of a program');

const run = promisify(execFile);
const packageFolder = fileURLToPath(new URL('../../', import.meta.url));
const require = createRequire(import.meta.url);

const program = `
import { ThreadPoolExecutor } from '@troupe/threads';
await using pool = new ThreadPoolExecutor({ maxThreads: 1 });
const tasks = pool.tasks<typeof import('./tasks.EXT')>(new URL('./tasks.EXT', import.meta.url));
console.log(await tasks.name(), (await tasks.bytes(3)).length);
`;
const tasks = `
import { currentTask, transfer } from '@troupe/threads';
export function name(): string { return currentTask().thread; }
export function bytes(length: number): Uint8Array {
  const made = new Uint8Array(length);
  return transfer(made, [made.buffer]);
}
`;

function folder(extension: string) {
  const path = mkdtempSync(join(tmpdir(), 'troupe-bundle-'));
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(path, 'main.ts'), program.replaceAll('EXT', extension));
  writeFileSync(join(path, 'tasks.ts'), tasks);
  mkdirSync(join(path, 'node_modules/@troupe'), { recursive: true });
  symlinkSync(packageFolder, join(path, 'node_modules/@troupe/threads'), 'dir');
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

interface Esbuild {
  build(options: object): Promise<unknown>;
}

async function bundle(path: string, entries: readonly { in: string; out: string }[]): Promise<void> {
  const esbuild: Esbuild = await import(pathToFileURL(require.resolve('esbuild')).href);
  await esbuild.build({
    absWorkingDir: path,
    entryPoints: entries,
    outdir: join(path, 'out'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
}

const entries = [
  { in: './main.ts', out: 'main' },
  { in: './tasks.ts', out: 'tasks' },
];

async function outputOf(
  path: string,
  args: readonly string[] = [join(path, 'out/main.js')],
): Promise<string> {
  return (await run(process.execPath, args, { cwd: path })).stdout.trim();
}

bundles('a bundle beside the installed package finds the file that its threads start with', async () => {
  using place = folder('js');
  await bundle(place.path, entries);
  assert.is(await outputOf(place.path), 'pool-worker-1 3');
});

bundles('a bundle without any package brings that file as an entry', async () => {
  using place = folder('js');
  await bundle(place.path, [...entries, { in: '@troupe/threads/pool-thread', out: 'node-pool-thread-main' }]);
  rmSync(join(place.path, 'node_modules'), { recursive: true });
  assert.is(await outputOf(place.path), 'pool-worker-1 3');
});

bundles('a bundle without either says what is missing', async () => {
  using place = folder('js');
  await bundle(place.path, entries);
  rmSync(join(place.path, 'node_modules'), { recursive: true });
  const error = await outputOf(place.path).catch((reason: { stderr: string }) => reason.stderr);
  assert.match(error, /ERR_THREAD_START/);
  assert.match(error, /written to node-pool-thread-main\.js/);
});

bundles('modules in TypeScript work under tsx', async () => {
  const tsx = pathToFileURL(require.resolve('tsx')).href;
  using place = folder('ts');
  assert.is(await outputOf(place.path, ['--import', tsx, 'main.ts']), 'pool-worker-1 3');
});

bundles.run();
