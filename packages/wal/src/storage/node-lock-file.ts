// LOCK without flock: an exclusively created file that names its owner, taken over when that process is gone.
// Not a cluster lock: an owner it cannot see (another pid namespace, a network file system) is stopped by
// epoch fencing.

import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { WalLockedError } from '../wal-error.js';
import { isOwnerAlive, type LockOwner, parseLockFile } from './lock-owner.js';
import { directoryError, makeNodeDirectory } from './node-directory.js';
import type { Callback } from './storage.js';

const LOCK = 'LOCK';

export function takeNodeLock(directory: string, done: Callback): void {
  take(directory).then(
    () => done(null),
    (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
  );
}

export function releaseNodeLock(directory: string, done: Callback): void {
  fs.unlink(join(directory, LOCK), (error) => done(error?.code === 'ENOENT' ? null : error));
}

async function take(directory: string): Promise<void> {
  const path = join(directory, LOCK);
  const own: LockOwner = {
    pid: process.pid,
    bootId: readBootId(),
    startedAt: processStartedAt(process.pid) ?? '',
    nonce: randomBytes(8).toString('hex'),
  };
  await makeNodeDirectory(directory);
  if (await createExclusively(path, own)) return;

  const text = await fs.promises.readFile(path, 'utf8');
  const owner = parseLockFile(text);
  if (owner !== undefined && isAlive(owner, own.bootId)) throw lockedBy(owner);
  await moveAside(path, text, own);
  if (await createExclusively(path, own)) return;
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
  await fs.promises.writeFile(tempPath, JSON.stringify(own), { mode: 0o640 }).catch((error: unknown) => {
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
