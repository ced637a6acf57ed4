import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MissingRow } from '../runner/report.js';
import type { Runtime } from '../runner/run-process.js';
import type { Case, Suite } from '../runner/suite.js';
import { UsageError } from '../runner/usage-error.js';

/** The cases named by `--only`, in the order of the suite. The name of a group selects all its cases. */
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

/** Adapter files by their exported names. */
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

export interface SelectedSystems {
  /** Labels in table order. */
  readonly labels: readonly string[];
  readonly skipped: readonly MissingRow[];
}

function knownSystems(suite: Suite, adapters: Readonly<Record<string, string>>): Set<string> {
  const names = new Set([
    ...suite.systems,
    ...suite.cases.flatMap((one) => one.systems),
    ...Object.keys(adapters),
  ]);
  names.delete('*');
  return names;
}

/**
 * The systems to run. A missing npm peer is a usage error if it was named on the command line, and is skipped
 * with its reason if it is in the list of the suite. Erlang, which npm cannot install, is skipped in both
 * cases.
 */
export async function selectSystems(
  suite: Suite,
  named: readonly string[] | undefined,
  adapters: Readonly<Record<string, string>>,
): Promise<SelectedSystems> {
  const names = knownSystems(suite, adapters);
  for (const name of named ?? []) {
    if (!names.has(name)) {
      throw new UsageError(`unknown system '${name}': there are ${[...names].join(', ')}`);
    }
  }
  const labels: string[] = [];
  const skipped: MissingRow[] = [];
  for (const system of named ?? [...suite.systems, ...Object.keys(adapters)]) {
    const reason = system in adapters ? undefined : await suite.missing?.(system);
    if (reason === undefined) labels.push(system);
    else if (named !== undefined && system !== 'erlang' && suite.missingIsSkipped !== true)
      throw new UsageError(reason);
    else skipped.push({ benchmark: '*', system, reason });
  }
  if (labels.length === 0)
    throw new UsageError(`no system to run: ${skipped.map(({ reason }) => reason).join('; ')}`);
  return { labels, skipped };
}

/** Labels of the systems on each runtime: `troupe` on Node, `troupe@bun` on Bun. */
export function labelsOnRuntimes(labels: readonly string[], runtimes: readonly Runtime[]): string[] {
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
