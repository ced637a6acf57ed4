import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { UsageError } from '../runner/usage-error.js';

const run = promisify(execFile);

/** A benchmark of another build. */
export interface RowName {
  readonly benchmark: string;
  readonly group?: string | undefined;
  readonly systems: readonly string[];
}

/** The script that runs one benchmark in a fresh process. */
export function childOf(folder: string): string {
  return join(folder, 'bench/dist/runner/child.js');
}

/** Prints the rows of a suite file. A separate process, so that no two builds are loaded into one. */
const listRows = `
  const { suite } = await import(process.argv[1]);
  const rows = suite.cases.map(({ benchmark, group, systems }) => ({ benchmark, group, systems }));
  process.stdout.write(JSON.stringify(rows), () => process.exit(0));`;

/** The rows of a suite in the build at `folder`; none if that build lacks the suite. */
export async function rowsInBuild(folder: string, suite: string): Promise<readonly RowName[]> {
  const file = join(folder, 'bench/dist/suites', `${suite}.suite.js`);
  if (!existsSync(file)) return [];
  const args = ['--input-type=module', '--eval', listRows, pathToFileURL(file).href];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } });
  // Printed by the program above.
  return JSON.parse(stdout) as RowName[];
}

/** Installs and builds a checkout by its own scripts. */
export async function buildCheckout(folder: string, signal: AbortSignal): Promise<void> {
  const windows = process.platform === 'win32';
  await run('npm', ['run', 'build'], { cwd: folder, signal, shell: windows, maxBuffer: 2 ** 26 });
  if (!existsSync(childOf(folder))) throw new UsageError('its build has no bench/dist/runner/child.js');
  await refuseForeignPackages(folder);
}

/** Throws if a workspace package resolves to another checkout, which would be compared with itself. */
async function refuseForeignPackages(folder: string): Promise<void> {
  const own = `${await realpath(folder)}${sep}`;
  const manifest: { dependencies?: Record<string, string> } = JSON.parse(
    await readFile(join(folder, 'bench/package.json'), 'utf8'),
  );
  for (const [name, version] of Object.entries(manifest.dependencies ?? {})) {
    if (!version.startsWith('workspace:')) continue;
    const place = await realpath(join(folder, 'bench/node_modules', name));
    if (!place.startsWith(own)) throw new UsageError(`${name} resolves to ${place}, outside its checkout`);
  }
}
