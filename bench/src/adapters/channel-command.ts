import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command, Repeat, RunContext } from '../runner/suite.js';
import { compiledFolder, type ForeignSources } from './compiled-program.js';

const go: ForeignSources = {
  name: 'go',
  async compile(from, into, run) {
    const files = (await readdir(from))
      .filter((file) => file.endsWith('.go'))
      .map((file) => join(from, file));
    const env = { ...process.env, GO111MODULE: 'off', GOFLAGS: '', GOCACHE: join(into, 'cache') };
    return run('go', ['build', '-o', join(into, 'core_bench'), ...files], { env });
  },
};

/** The crates of Debian's packages: nothing is downloaded. */
const crates = '/usr/share/cargo/registry';

const tokio: ForeignSources = {
  name: 'rust',
  async compile(from, into, run) {
    // Cargo writes a lock file beside its manifest.
    await cp(from, into, { recursive: true });
    const sources = ['source.crates-io.replace-with="debian"', `source.debian.directory="${crates}"`];
    const config = sources.flatMap((source) => ['--config', source]);
    return run('cargo', ['build', '--release', '--offline', ...config], { cwd: into });
  },
};

const programs: Readonly<Record<string, { readonly sources: ForeignSources; readonly path: string }>> = {
  go: { sources: go, path: 'core_bench' },
  tokio: { sources: tokio, path: 'target/release/core_bench' },
};

/** Tasks and channels of another language, on one thread. */
export const channelSystems: readonly string[] = Object.keys(programs);

/** The reason why such a system cannot be compiled here, `undefined` if it can. */
export function missingChannelSystem(system: string): string | undefined {
  if (system === 'go' && !isInstalled('go', ['version']))
    return 'go is not installed: apt-get install golang-go';
  if (system !== 'tokio') return undefined;
  if (!isInstalled('cargo', ['--version'])) return 'cargo is not installed: apt-get install cargo';
  if (existsSync(crates) && readdirSync(crates).some((name) => name.startsWith('tokio-'))) return undefined;
  return `tokio is not in ${crates}: apt-get install librust-tokio-dev`;
}

/** The version of a benchmark in the language of the system. */
export async function channelCommand(
  benchmark: string,
  context: RunContext,
  repeat: Repeat,
): Promise<Command | undefined> {
  const program = programs[context.system];
  if (program === undefined) return undefined;
  const folder = await compiledFolder(program.sources);
  const { warmups, iterations, budgetMs } = repeat;
  const args = [benchmark, context.scale, warmups, iterations, budgetMs].map(String);
  return { file: join(folder, program.path), args };
}

function isInstalled(file: string, args: readonly string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}
