import { join } from 'node:path';
import type { Command, Repeat, RunContext } from '../runner/suite.js';
import { compiledFolder, type ForeignSources } from './compiled-program.js';

const modules = ['harness', 'core_bench', 'fairness_bench', 'savina'];

const erlang: ForeignSources = {
  name: 'erlang',
  compile: (from, into, run) =>
    run('erlc', ['-o', into, ...modules.map((module) => join(from, `${module}.erl`))]),
};

/** The Erlang version of a benchmark, with one scheduler because the other systems have one thread. */
export async function erlangCommand(
  module: string,
  benchmark: string,
  context: RunContext,
  repeat: Repeat,
): Promise<Command | undefined> {
  if (context.system !== 'erlang') return undefined;
  const folder = await compiledFolder(erlang);
  const { warmups, iterations, budgetMs } = repeat;
  return {
    file: 'erl',
    args: [
      ...['-noshell', '+S', '1:1', '+P', '2000000', '-pa', folder, '-run', 'harness', 'main'],
      ...[module, benchmark, context.scale, warmups, iterations, budgetMs].map(String),
    ],
  };
}
