import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { UsageError } from '../runner/usage-error.js';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** A checkout of another commit with its core built, removed again at the end. */
export interface Worktree {
  readonly commit: string;
  /** The `file:` URL of its `@troupe/core`. */
  readonly core: string;
  remove(): Promise<void>;
}

async function git(...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: repository });
  return stdout.trim();
}

async function commitOf(ref: string): Promise<string> {
  try {
    return await git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`);
  } catch {
    throw new UsageError(`--base ${ref}: no such commit here`);
  }
}

async function build(folder: string): Promise<void> {
  // The base is built with the tools and dependencies of the working tree: only its source differs.
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  const from = join(repository, 'packages/core/node_modules');
  await cp(from, join(folder, 'packages/core/node_modules'), { recursive: true, verbatimSymlinks: true });
  const compiler = join(repository, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-b', join(folder, 'packages/core')], { cwd: folder });
}

export async function openWorktree(ref: string): Promise<Worktree> {
  const commit = await commitOf(ref);
  const parent = await mkdtemp(join(tmpdir(), 'troupe-gate-'));
  const folder = join(parent, 'base');
  const remove = async (): Promise<void> => {
    await git('worktree', 'remove', '--force', folder).catch(() => git('worktree', 'prune'));
    await rm(parent, { recursive: true, force: true });
  };
  try {
    await git('worktree', 'add', '--detach', '--quiet', folder, commit);
    await build(folder);
  } catch (error) {
    await remove();
    const text =
      error instanceof Error && 'stdout' in error
        ? `${error.message}\n${String(error.stdout)}`
        : String(error);
    throw new UsageError(`--base ${ref}: its core does not build: ${text.slice(0, 400)}`);
  }
  return { commit, core: pathToFileURL(join(folder, 'packages/core/dist/index.js')).href, remove };
}
