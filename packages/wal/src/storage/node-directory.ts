import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf, WalFolderError } from '../wal-error.js';

/** Makes a folder and those above it. */
export async function makeNodeFolder(path: string): Promise<void> {
  try {
    await makeDown(path);
  } catch (error) {
    throw unusable(path, error);
  }
}

/** What says that this place is the wrong one. A full disk, or too many open files, do not. */
const WRONG_PLACE = new Set([
  'ENOENT',
  'ENOTDIR',
  'EEXIST',
  'EACCES',
  'EPERM',
  'EROFS',
  'ELOOP',
  'ENAMETOOLONG',
]);

/** The error as it is told to whoever named the folder. */
export function unusable(folder: string, error: unknown): unknown {
  const errno = errnoOf(error);
  return errno !== undefined && WRONG_PLACE.has(errno) ? new WalFolderError(folder, errno, error) : error;
}

/** One by one: the recursive mkdir of Node tries forever where the folder above is there and takes nothing, as /proc does. */
async function makeDown(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDown(dirname(path));
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o750 });
  } catch (error) {
    if (!(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
