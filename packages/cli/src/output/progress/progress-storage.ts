import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeStorage, type Storage } from '@troupe/wal';
import type { ProgressBar } from './progress-bar.js';

const MIB = 1024 * 1024;

/** Storage of a folder that moves a progress bar as it is read. `times`: how often every byte is read. */
export async function progressStorage(
  folder: string,
  { bar, times }: { readonly bar: ProgressBar; readonly times: number },
): Promise<Storage> {
  const totalMiB = Math.ceil((times * (await logBytes(folder))) / MIB);
  const storage = nodeStorage(folder);
  let bytes = 0;
  return {
    ...storage,
    read: (file, into, position, done) =>
      storage.read(file, into, position, (error, count) => {
        bytes += count ?? 0;
        bar.at(Math.floor(bytes / MIB), totalMiB);
        done(error, count);
      }),
  };
}

async function logBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder)) {
    if (name.endsWith('.seg') || name.endsWith('.snap')) bytes += (await stat(join(folder, name))).size;
  }
  return bytes;
}
