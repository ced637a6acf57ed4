import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '../runner/usage-error.js';
import { buildCheckout } from './checkout-build.js';

const run = promisify(execFile);

/** A built checkout of another commit in a temporary folder. */
export interface Worktree {
  readonly commit: string;
  readonly folder: string;
  remove(): Promise<void>;
}

async function git(repository: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: repository });
  return stdout.trim();
}

async function commitOf(repository: string, ref: string): Promise<string> {
  try {
    return await git(repository, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`);
  } catch {
    throw new UsageError(`--base ${ref}: no such commit`);
  }
}

/** Checks out `ref` into a temporary folder and builds it. An abort removes the folder again. */
export async function openWorktree(repository: string, ref: string, signal: AbortSignal): Promise<Worktree> {
  const commit = await commitOf(repository, ref);
  const parent = await mkdtemp(join(tmpdir(), 'troupe-gate-'));
  const folder = join(parent, 'base');
  const remove = async (): Promise<void> => {
    await git(repository, 'worktree', 'remove', '--force', folder).catch(() => undefined);
    // A compiler process that was just killed may still write files.
    await rm(parent, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    await git(repository, 'worktree', 'prune');
  };
  try {
    await git(repository, 'worktree', 'add', '--detach', '--quiet', folder, commit);
    await buildCheckout(folder, signal);
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    throw new UsageError(`--base ${ref}: the build fails: ${reasonOf(error)}`);
  }
  return { commit, folder, remove };
}

/** The reason in one line; that of a failed command is in its output. */
function reasonOf(error: unknown): string {
  const parts = [error instanceof Error ? error.message : String(error)];
  if (error instanceof Error && 'stdout' in error) parts.push(String(error.stdout));
  return parts.join(' ').replace(/\s+/g, ' ').slice(0, 600);
}
