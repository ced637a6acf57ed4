// The kernel's lock on the directory itself. Node has no flock(2), but a lock belongs to an open file
// description: flock(1), run once on a descriptor that it inherits, leaves the lock with this process. The
// kernel drops it with the process, in any pid namespace, and removing a file does not remove it.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { directoryError } from './node-directory.js';

/** flock(1) ends with this, and prints nothing, where another process has the lock. */
const CONFLICT = 1;

export type DirectoryLock =
  | { readonly kind: 'taken'; readonly fd: number }
  | { readonly kind: 'busy' }
  /** There is no flock(1) here, or the file system has no locks. */
  | { readonly kind: 'unavailable'; readonly reason: string };

export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const fd = openDirectory(directory);
  const ended = await runFlock(fd);
  if (ended === undefined) return { kind: 'taken', fd };
  fs.closeSync(fd);
  return ended.code === CONFLICT && ended.text === ''
    ? { kind: 'busy' }
    : { kind: 'unavailable', reason: ended.text };
}

function openDirectory(directory: string): number {
  try {
    return fs.openSync(directory, 'r');
  } catch (error) {
    throw directoryError(directory, error);
  }
}

/** Undefined if the lock was taken. */
function runFlock(fd: number): Promise<{ readonly code: number | null; readonly text: string } | undefined> {
  return new Promise((resolve) => {
    const flock = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'pipe', fd] });
    let text = '';
    flock.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    flock.on('error', (error) => resolve({ code: null, text: `flock: ${error.message}` }));
    flock.on('close', (code) => resolve(code === 0 ? undefined : { code, text: text.trim() }));
  });
}
