import { readdir } from 'node:fs/promises';
import type { Suite } from './suite.js';
import { UsageError } from './usage-error.js';

const folder = new URL('../suites/', import.meta.url);

/** The names of the suites: every file `<name>.suite.js` in the folder. */
export async function suiteNames(): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith('.suite.js'))
    .map((file) => file.slice(0, -'.suite.js'.length))
    .sort();
}

export async function loadSuite(name: string): Promise<Suite> {
  const names = await suiteNames();
  if (!names.includes(name)) throw new UsageError(`unknown suite '${name}': there are ${names.join(', ')}`);
  const module: { suite?: Suite } = await import(new URL(`${name}.suite.js`, folder).href);
  if (module.suite === undefined) throw new UsageError(`suite '${name}' exports no 'suite'`);
  return module.suite;
}
