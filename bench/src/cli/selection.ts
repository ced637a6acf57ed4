import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Absence } from '../runner/report.js';
import type { Runtime } from '../runner/run-process.js';
import type { Case, Suite } from '../runner/suite.js';
import { UsageError } from '../runner/usage-error.js';

/** The cases named by `--only`, in the suite's order. A group's name stands for all its cases. */
export function selectCases(suite: Suite, only: readonly string[] | undefined): readonly Case[] {
  if (only === undefined) return suite.cases;
  for (const name of only) {
    if (!suite.cases.some((known) => known.benchmark === name || known.group === name)) {
      const names = suite.cases.map((known) => known.benchmark).join(', ');
      throw new UsageError(`suite ${suite.name} has no benchmark '${name}': there are ${names}`);
    }
  }
  return suite.cases.filter(
    (known) => only.includes(known.benchmark) || (known.group !== undefined && only.includes(known.group)),
  );
}

/** Adapter files by the name they export. */
export async function loadAdapters(files: readonly string[]): Promise<Record<string, string>> {
  const adapters: Record<string, string> = {};
  for (const file of files) {
    const path = resolve(file);
    if (!existsSync(path)) throw new UsageError(`--adapter ${file}: no such file`);
    const url = pathToFileURL(path).href;
    const module: { name?: unknown; open?: unknown } = await import(url).catch((error: unknown) => {
      throw new UsageError(`--adapter ${file}: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (typeof module.name !== 'string' || typeof module.open !== 'function') {
      throw new UsageError(`--adapter ${file}: an adapter exports 'name' (a string) and 'open' (a function)`);
    }
    adapters[module.name] = url;
  }
  return adapters;
}

export interface Systems {
  /** Labels in table order. */
  readonly labels: readonly string[];
  readonly skipped: readonly Absence[];
}

function known(suite: Suite, adapters: Readonly<Record<string, string>>): Set<string> {
  const names = new Set([
    ...suite.systems,
    ...suite.cases.flatMap((one) => one.systems),
    ...Object.keys(adapters),
  ]);
  names.delete('*');
  return names;
}

/**
 * The systems to run. One that is named on the command line and is an npm peer not installed is bad input; one of the
 * suite's own list is skipped with its reason. Erlang, which npm cannot bring, is skipped in both cases.
 */
export async function selectSystems(
  suite: Suite,
  asked: readonly string[] | undefined,
  adapters: Readonly<Record<string, string>>,
): Promise<Systems> {
  const names = known(suite, adapters);
  for (const name of asked ?? []) {
    if (!names.has(name)) {
      throw new UsageError(`unknown system '${name}': there are ${[...names].join(', ')}`);
    }
  }
  const labels: string[] = [];
  const skipped: Absence[] = [];
  for (const system of asked ?? [...suite.systems, ...Object.keys(adapters)]) {
    const reason = system in adapters ? undefined : await suite.missing?.(system);
    if (reason === undefined) labels.push(system);
    else if (asked !== undefined && system !== 'erlang' && suite.missingIsSkipped !== true)
      throw new UsageError(reason);
    else skipped.push({ benchmark: '*', system, reason });
  }
  if (labels.length === 0)
    throw new UsageError(`nothing to run: ${skipped.map(({ reason }) => reason).join('; ')}`);
  return { labels, skipped };
}

/** Systems on other runtimes, as labels `troupe@bun`; Node is the reference and has the plain name. */
export function onRuntimes(labels: readonly string[], runtimes: readonly Runtime[]): string[] {
  for (const runtime of runtimes) {
    if (runtime !== 'node' && spawnSync(runtime, ['--version'], { stdio: 'ignore' }).error !== undefined) {
      throw new UsageError(`${runtime} is not installed: npm install --global ${runtime}`);
    }
  }
  return runtimes.flatMap((runtime) =>
    runtime === 'node'
      ? labels
      : labels.filter((label) => label !== 'erlang').map((label) => `${label}@${runtime}`),
  );
}
