// Two locks: the kernel's on the directory, where flock(1) is installed, and LOCK, an exclusively created
// file that names its owner and is taken over when that process is gone. An owner that neither of them
// shows is stopped by its epoch (adr/0211).

import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf, WalLockedError } from '../wal-error.js';
import { isOwnerAlive, type LockOwner, parseLockFile } from './lock-owner.js';
import { directoryError, makeNodeDirectory } from './node-directory.js';
import { lockDirectory } from './node-directory-lock.js';
import type { Callback } from './storage.js';

const LOCK = 'LOCK';

export class NodeLock {
  private readonly directory: string;
  private fd: number | undefined;
  /** The content of LOCK while it is ours. */
  private text: string | undefined;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Passes the reason why the kernel's lock is not held, if it is not. */
  take(done: Callback<string | undefined>): void {
    this.takeBoth().then(
      (reason) => done(null, reason),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), undefined),
    );
  }

  release(done: Callback): void {
    this.releaseBoth().then(
      () => done(null),
      (error: Error) => done(error),
    );
  }

  private async takeBoth(): Promise<string | undefined> {
    await makeNodeDirectory(this.directory);
    const lock = await lockDirectory(this.directory);
    if (lock.kind === 'busy') throw await lockedByUnknown(this.directory);
    if (lock.kind === 'taken') this.fd = lock.fd;
    try {
      this.text = await takeFile(this.directory);
    } catch (error) {
      this.releaseDirectory();
      throw error;
    }
    return lock.kind === 'taken' ? undefined : lock.reason;
  }

  private async releaseBoth(): Promise<void> {
    const path = join(this.directory, LOCK);
    try {
      const found = await fs.promises.readFile(path, 'utf8').catch(undefinedIfMissing);
      // After LOCK was removed by hand, the file there now may be another process's.
      if (found !== undefined && found === this.text) await fs.promises.unlink(path);
    } finally {
      this.text = undefined;
      this.releaseDirectory();
    }
  }

  private releaseDirectory(): void {
    if (this.fd !== undefined) fs.closeSync(this.fd);
    this.fd = undefined;
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
  return undefined;
}

/** The kernel does not say which process has the lock; LOCK may. */
async function lockedByUnknown(directory: string): Promise<WalLockedError> {
  const text = await fs.promises.readFile(join(directory, LOCK), 'utf8').catch(undefinedIfMissing);
  const owner = text === undefined ? undefined : parseLockFile(text);
  if (owner === undefined) return new WalLockedError('a process that has locked it');
  return isAlive(owner, readBootId())
    ? lockedBy(owner)
    : new WalLockedError(`pid ${owner.pid} of another pid namespace`);
}

/** The content of LOCK, which is ours now. */
async function takeFile(directory: string): Promise<string> {
  const path = join(directory, LOCK);
  const own: LockOwner = {
    pid: process.pid,
    bootId: readBootId(),
    startedAt: processStartedAt(process.pid) ?? '',
    nonce: randomBytes(8).toString('hex'),
  };
  if (await createExclusively(path, own)) return JSON.stringify(own);

  const text = await fs.promises.readFile(path, 'utf8');
  const owner = parseLockFile(text);
  if (owner !== undefined && isAlive(owner, own.bootId)) throw lockedBy(owner);
  await moveAside(path, text, own);
  if (await createExclusively(path, own)) return JSON.stringify(own);
  throw new WalLockedError('a process that started at the same moment');
}

/**
 * Two processes may both have found the same LOCK stale. The one that renames second would move the first
 * one's new LOCK away, so the moved content is compared with the stale one, and put back if it differs.
 */
async function moveAside(path: string, stale: string, own: LockOwner): Promise<void> {
  const aside = `${path}.stale.${own.nonce}`;
  await fs.promises.rename(path, aside);
  const moved = await fs.promises.readFile(aside, 'utf8');
  if (moved !== stale) {
    await fs.promises.link(aside, path);
    await fs.promises.unlink(aside);
    throw new WalLockedError('a process that started at the same moment');
  }
  await fs.promises.unlink(aside);
}

async function createExclusively(path: string, own: LockOwner): Promise<boolean> {
  // Written under another name and linked into place, so that no reader sees a partial file.
  const tempPath = `${path}.${own.nonce}.tmp`;
  await fs.promises.writeFile(tempPath, JSON.stringify(own), { mode: 0o600 }).catch((error: unknown) => {
    throw directoryError(dirname(path), error);
  });
  try {
    await fs.promises.link(tempPath, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await fs.promises.unlink(tempPath);
  }
}

function lockedBy(owner: LockOwner): WalLockedError {
  return new WalLockedError(
    owner.pid === process.pid ? `this process (pid ${owner.pid})` : `pid ${owner.pid}`,
  );
}

function isAlive(owner: LockOwner, bootId: string): boolean {
  const startedAt = processStartedAt(owner.pid);
  return isOwnerAlive(owner, bootId, startedAt === undefined ? undefined : { startedAt });
}

/** Undefined if no such process runs; empty if one does but its start time is unknown. */
function processStartedAt(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name is in parentheses and may contain spaces; field 22 is counted from its end. A zombie
    // owns no lock.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : (fields[19] ?? '');
  } catch {
    return '';
  }
}

function readBootId(): string {
  try {
    return fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
