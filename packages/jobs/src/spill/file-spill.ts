import type { Callback, Storage, StorageFile } from '@troupe/wal';
import type { OpenSpill, Spill } from './spill.js';
import { SPILL_FOLDER, SpillActor, spillFileName, spillFileOf } from './spill-actor.js';

/** A spill in the folder `streams` of a storage: that of the log, which has locked it. */
export function fileSpill(storage: Storage): OpenSpill {
  return (named, found, done, owner) => {
    readFolder(storage, named, found).then(
      () => {
        const ref = owner.spawn(SpillActor, { args: storage, name: 'spill' });
        const spill: Spill = {
          write: (write) => ref.tell.write(write),
          read: (read) => ref.tell.read(read),
          remove: (files) => ref.tell.remove(files),
        };
        done(null, spill);
      },
      (error: Error) => done(error),
    );
  };
}

async function readFolder(
  storage: Storage,
  named: ReadonlySet<number>,
  found: (file: number, bytes: Uint8Array) => void,
): Promise<void> {
  await promised<void>((done) => storage.mkdir(SPILL_FOLDER, done));
  const names = await promised<string[]>((done) => storage.list(SPILL_FOLDER, done));
  const files = names.map(spillFileOf).filter((file): file is number => file !== undefined);
  for (const file of files.sort((a, b) => a - b)) {
    if (named.has(file)) found(file, await readFile(storage, spillFileName(file)));
    else await promised<void>((done) => storage.unlink(spillFileName(file), done));
  }
  await promised<void>((done) => storage.syncDir(SPILL_FOLDER, done));
}

/**
 * The leader before may have ended between a write and its sync. Chunks that are found here are acknowledged,
 * so they must be on the disk.
 */
async function readFile(storage: Storage, name: string): Promise<Uint8Array> {
  const size = await promised<number | undefined>((done) => storage.size(name, done));
  const bytes = Buffer.allocUnsafeSlow(size ?? 0);
  const handle = await promised<StorageFile>((done) => storage.open(name, 'read', done));
  const count = await promised<number>((done) => storage.read(handle, bytes, 0, done));
  await promised<void>((done) => storage.sync(handle, done));
  await promised<void>((done) => storage.close(handle, done));
  return bytes.subarray(0, count);
}

function promised<T>(start: (done: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error === null ? resolve(value) : reject(error)));
  });
}
