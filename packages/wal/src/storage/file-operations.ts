// Reads, writes, replaces, syncs, renames and removes files. Every write is checked for shortness.

import { WalCorruptError, WalIoError } from '../wal-error.js';
import { type Coroutine, call } from './coroutine.js';
import type { Storage, StorageFile } from './storage.js';

/** Opens a file for reading and closes it after `use`. */
export function* withOpenFile<T>(
  storage: Storage,
  name: string,
  use: (file: StorageFile) => Coroutine<T>,
): Coroutine<T> {
  const file = yield* call<StorageFile>((done) => storage.open(name, 'read', done));
  try {
    return yield* use(file);
  } finally {
    yield* call<void>((done) => storage.close(file, done));
  }
}

/** Reads into `into` from `position`; returns the number of bytes, fewer only at the end of the file. */
export function* readAt(
  storage: Storage,
  name: string,
  into: Uint8Array,
  position: number,
): Coroutine<number> {
  return yield* withOpenFile(storage, name, (file) =>
    call<number>((done) => storage.read(file, into, position, done)),
  );
}

/** To its end, which is not its size from before: another process may replace the file meanwhile. */
export function* readFile(storage: Storage, name: string): Coroutine<Buffer> {
  const bytes = yield* call<number | undefined>((done) => storage.size(name, done));
  if (bytes === undefined)
    throw new WalCorruptError({ file: name, offset: 0, reason: 'the file is missing' });
  return yield* withOpenFile(storage, name, (file) => readToEnd(storage, file, bytes));
}

function* readToEnd(storage: Storage, file: StorageFile, bytes: number): Coroutine<Buffer> {
  let into = Buffer.allocUnsafe(bytes + 1);
  for (;;) {
    const count = yield* call<number>((done) => storage.read(file, into, 0, done));
    if (count < into.length) return into.subarray(0, count);
    into = Buffer.allocUnsafe(2 * into.length);
  }
}

/** Continues a short write once: the second call completes it or reports the error. */
export function* writeFully(
  storage: Storage,
  file: StorageFile,
  bytes: Uint8Array,
  position: number,
): Coroutine<void> {
  const written = yield* call<number>((done) => storage.write(file, bytes, position, done));
  if (written === bytes.length) return;
  const rest = bytes.subarray(written);
  const more = yield* call<number>((done) => storage.write(file, rest, position + written, done));
  if (more !== rest.length) {
    throw new Error(`${file.name}: short write, ${written + more} of ${bytes.length} bytes at ${position}`);
  }
}

/** As writeFully, and on stable storage. */
export function* writeDurably(
  storage: Storage,
  file: StorageFile,
  bytes: Uint8Array,
  position: number,
): Coroutine<void> {
  const written = yield* call<number>((done) => storage.writeDurable(file, bytes, position, done));
  if (written === bytes.length) return;
  yield* writeFully(storage, file, bytes.subarray(written), position + written);
  yield* syncFile(storage, file);
}

/** Creates a file with these bytes, synced and closed. A leftover of the same name is removed first. */
export function* createFile(storage: Storage, name: string, bytes: Uint8Array): Coroutine<void> {
  yield* removeIfThere(storage, name);
  const file = yield* call<StorageFile>((done) => storage.open(name, 'create', done));
  try {
    yield* writeFully(storage, file, bytes, 0);
    yield* syncFile(storage, file);
  } finally {
    yield* call<void>((done) => storage.close(file, done));
  }
}

/** After a failed sync or rename the disk's content is unknown: no retry, WalIoError ends the log. */
export function* syncFile(storage: Storage, file: StorageFile): Coroutine<void> {
  try {
    yield* call<void>((done) => storage.sync(file, done));
  } catch (error) {
    throw new WalIoError(`sync of ${file.name}`, error);
  }
}

export function* moveIntoPlace(storage: Storage, from: string, to: string): Coroutine<void> {
  const directory = to.includes('/') ? to.slice(0, to.lastIndexOf('/')) : '.';
  try {
    yield* call<void>((done) => storage.rename(from, to, done));
    yield* call<void>((done) => storage.syncDir(directory, done));
  } catch (error) {
    throw new WalIoError(`rename to ${to}`, error);
  }
}

export function* removeIfThere(storage: Storage, name: string): Coroutine<void> {
  const bytes = yield* call<number | undefined>((done) => storage.size(name, done));
  if (bytes !== undefined) yield* call<void>((done) => storage.unlink(name, done));
}
