import { execFile } from 'node:child_process';
import { mkdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command, Repeat, RunContext } from '../runner/suite.js';

const sources = fileURLToPath(new URL('../../erlang/', import.meta.url));
const run = promisify(execFile);
const compiled = new Map<string, Promise<string>>();

/** Compiles a module once per version of its source, into a folder for that version. */
async function compile(module: string): Promise<string> {
  const harness = join(sources, 'harness.erl');
  const source = join(sources, `${module}.erl`);
  const stamp = Math.round(Math.max((await stat(source)).mtimeMs, (await stat(harness)).mtimeMs));
  const folder = join(tmpdir(), `troupe-bench-erlang-${process.getuid?.() ?? 0}-${stamp}`);
  await mkdir(folder, { recursive: true });
  await run('erlc', ['-o', folder, harness, source]);
  return folder;
}

/** The Erlang version of a benchmark, with one scheduler because the other systems have one thread. */
export async function erlangCommand(
  module: string,
  benchmark: string,
  context: RunContext,
  repeat: Repeat,
): Promise<Command | undefined> {
  if (context.system !== 'erlang') return undefined;
  const known = compiled.get(module) ?? compile(module);
  compiled.set(module, known);
  const folder = await known;
  const { warmups, iterations, budgetMs } = repeat;
  return {
    file: 'erl',
    args: [
      ...['-noshell', '+S', '1:1', '+P', '2000000', '-pa', folder, '-run', 'harness', 'main'],
      ...[module, benchmark, context.scale, warmups, iterations, budgetMs].map(String),
    ],
  };
}
