import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf, WalDirectoryError } from '../wal-error.js';

/** Creates a directory and its parents, for their owner only. No error if it exists. */
export async function makeNodeDirectory(path: string): Promise<void> {
  try {
    await makeWithParents(path);
  } catch (error) {
    throw directoryError(path, error);
  }
}

/** Errors that make this path unusable. A full disk or too many open files do not. */
const UNUSABLE_ERRNOS = new Set([
  'ENOENT',
  'ENOTDIR',
  'EEXIST',
  'EACCES',
  'EPERM',
  'EROFS',
  'ELOOP',
  'ENAMETOOLONG',
]);

/** A WalDirectoryError if the path itself is the problem, else the error as it is. */
export function directoryError(directory: string, error: unknown): unknown {
  const errno = errnoOf(error);
  return errno !== undefined && UNUSABLE_ERRNOS.has(errno)
    ? new WalDirectoryError(directory, errno, error)
    : error;
}

/** Level by level: Node's recursive mkdir never ends where a parent refuses entries, as /proc does. */
async function makeWithParents(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeWithParents(dirname(path));
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!(await isDirectory(path))) throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
