// LOCK without flock: an exclusively created file that names its holder, taken over when that holder is gone.
// Not a cluster lock: what it cannot see (another pid namespace, a network file system), epoch fencing stops.

import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { WalLockedError } from '../wal-error.js';
import { isOwnerAlive, type LockOwner, parseLockFile } from './lock-file.js';
import { directoryError, makeNodeDirectory } from './node-directory.js';
import type { Callback } from './storage.js';

const FILE = 'LOCK';

export function takeNodeLock(directory: string, done: Callback): void {
  take(directory).then(
    () => done(null),
    (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
  );
}

export function releaseNodeLock(directory: string, done: Callback): void {
  fs.unlink(join(directory, FILE), (error) => done(error?.code === 'ENOENT' ? null : error));
}

async function take(directory: string): Promise<void> {
  const path = join(directory, FILE);
  const own: LockOwner = {
    pid: process.pid,
    bootId: readBootId(),
    startedAt: processStartedAt(process.pid) ?? '',
    nonce: randomBytes(8).toString('hex'),
  };
  await makeNodeDirectory(directory);
  if (await createExclusively(path, own)) return;

  const text = await fs.promises.readFile(path, 'utf8');
  const holder = parseLockFile(text);
  if (holder !== undefined && isAlive(holder, own.bootId)) throw lockedBy(holder);
  await moveAside(path, text, own);
  if (await createExclusively(path, own)) return;
  throw new WalLockedError('a process that started at the same moment');
}

/**
 * Two processes may both have judged the same LOCK stale. The one that renames second would move the first one's fresh
 * LOCK away, so what was moved is compared with what was judged, and put back if it is another.
 */
async function moveAside(path: string, judged: string, own: LockOwner): Promise<void> {
  const aside = `${path}.stale.${own.nonce}`;
  await fs.promises.rename(path, aside);
  const moved = await fs.promises.readFile(aside, 'utf8');
  if (moved !== judged) {
    await fs.promises.link(aside, path);
    await fs.promises.unlink(aside);
    throw new WalLockedError('a process that started at the same moment');
  }
  await fs.promises.unlink(aside);
}

async function createExclusively(path: string, own: LockOwner): Promise<boolean> {
  // Written under another name and linked into place, so that nobody ever reads half a holder.
  const draft = `${path}.${own.nonce}.tmp`;
  await fs.promises.writeFile(draft, JSON.stringify(own), { mode: 0o640 }).catch((error: unknown) => {
    throw directoryError(dirname(path), error);
  });
  try {
    await fs.promises.link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await fs.promises.unlink(draft);
  }
}

function lockedBy(holder: LockOwner): WalLockedError {
  return new WalLockedError(
    holder.pid === process.pid ? `this process (pid ${holder.pid})` : `pid ${holder.pid}`,
  );
}

function isAlive(holder: LockOwner, bootId: string): boolean {
  const startedAt = processStartedAt(holder.pid);
  return isOwnerAlive(holder, bootId, startedAt === undefined ? undefined : { startedAt });
}

/** Undefined if no such process runs; empty if one does but its start cannot be told. */
function processStartedAt(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name is in parentheses and may hold spaces; field 22 is counted from behind it. A zombie holds nothing.
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
