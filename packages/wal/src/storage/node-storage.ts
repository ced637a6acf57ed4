// The storage port on Node's file system.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { makeNodeDirectory } from './node-directory.js';
import { NodeLock } from './node-lock-file.js';
import { findNetworkFileSystem } from './node-network-file-system.js';
import type { Callback, OpenMode, Storage, StorageFile } from './storage.js';

interface NodeFile extends StorageFile {
  readonly fd: number;
  /** The kernel syncs every write before it returns, so writeDurable is one trip to the thread pool. */
  readonly dsync: boolean;
}

// On macOS O_DSYNC does not reach the platter; libuv's fsync (F_FULLFSYNC) does.
const DSYNC = process.platform === 'linux' ? fs.constants.O_DSYNC : 0;
/** After a durable write that took longer than this, writes do not block the calling thread. */
const BLOCKING_MS_MAX = 1;
const FLAGS: Record<OpenMode, number> = {
  read: fs.constants.O_RDONLY,
  create: fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL,
  durable: fs.constants.O_RDWR | DSYNC,
};

/** The files hold every payload, so only their owner may read them. */
const FILE_MODE = 0o600;

/** The storage itself, or that of a directory. */
export function storageOf(directory: string | Storage): Storage {
  return typeof directory === 'string' ? nodeStorage(directory) : directory;
}

export function nodeStorage(directory: string): Storage {
  const path = (name: string): string => join(directory, name);
  const fdOf = (file: StorageFile): number => (file as NodeFile).fd; // Files only come from `open` below.
  /** Duration of the latest durable write. The first one never blocks. */
  let lastWriteMs = Number.POSITIVE_INFINITY;

  const lock = new NodeLock(directory);

  return {
    lock: (done) => lock.take(done),
    unlock: (done) => lock.release(done),

    open(name, mode, done) {
      fs.open(path(name), FLAGS[mode], FILE_MODE, (error, fd) => {
        const file: NodeFile = { name, fd, dsync: mode === 'durable' && DSYNC !== 0 };
        done(error, file);
      });
    },
    close: (file, done) => fs.close(fdOf(file), nullOnSuccess(done)),
    read: (file, into, position, done) => readFully(fdOf(file), into, 0, position, done),
    readNow: (file, into, position) => fs.readSync(fdOf(file), into, 0, into.length, position),
    write: (file, bytes, position, done) => fs.write(fdOf(file), bytes, 0, bytes.length, position, done),
    writeDurable(file, bytes, position, done, options) {
      const { fd, dsync } = file as NodeFile;
      const startedAt = performance.now();
      if (options?.mayBlock === true && dsync && lastWriteMs <= BLOCKING_MS_MAX) {
        const { error, written } = writeBlocking(fd, bytes, position);
        lastWriteMs = performance.now() - startedAt;
        process.nextTick(done, error, written);
        return;
      }
      fs.write(fd, bytes, 0, bytes.length, position, (error, written) => {
        lastWriteMs = performance.now() - startedAt;
        if (error !== null || dsync) done(error, written);
        else fs.fdatasync(fd, (syncError) => done(syncError, written));
      });
    },
    // Data and the metadata needed to read it back; timestamps may be lost.
    sync: (file, done) => fs.fdatasync(fdOf(file), nullOnSuccess(done)),

    size(name, done) {
      fs.stat(path(name), (error, stats) => {
        // ENOTDIR: a part of the path is a file; the step that creates the directory reports it.
        if (error?.code === 'ENOENT' || error?.code === 'ENOTDIR') done(null, undefined);
        else done(error, error === null ? stats.size : undefined);
      });
    },
    truncate: (name, bytes, done) => fs.truncate(path(name), bytes, nullOnSuccess(done)),
    rename: (from, to, done) => fs.rename(path(from), path(to), nullOnSuccess(done)),
    unlink: (name, done) => fs.unlink(path(name), nullOnSuccess(done)),
    mkdir: (name, done) => void makeNodeDirectory(path(name)).then(() => done(null), done),
    list(name, done) {
      fs.readdir(path(name), (error, names) => {
        if (error?.code === 'ENOENT') done(null, []);
        else done(error, names);
      });
    },
    syncDir: (name, done) => syncDirectory(path(name), done),
    networkFileSystem: (done) => findNetworkFileSystem(directory, done),
    freeBytes(done) {
      fs.statfs(directory, (error, stats) =>
        done(error, error === null ? stats.bavail * stats.bsize : undefined),
      );
    },
  };
}

/** On the calling thread: two thread switches cost more than a fast disk does. */
function writeBlocking(
  fd: number,
  bytes: Uint8Array,
  position: number,
): { readonly error: Error | null; readonly written: number } {
  try {
    return { error: null, written: fs.writeSync(fd, bytes, 0, bytes.length, position) };
  } catch (error) {
    return { error: error as Error, written: 0 }; // node:fs throws Errors
  }
}

/** Node passes null or undefined on success; the port promises null. */
function nullOnSuccess(done: Callback): (error?: NodeJS.ErrnoException | null) => void {
  return (error) => done(error ?? null);
}

function readFully(
  fd: number,
  into: Uint8Array,
  have: number,
  position: number,
  done: Callback<number>,
): void {
  fs.read(fd, into, have, into.length - have, position + have, (error, count) => {
    if (error !== null) return done(error, have);
    const total = have + count;
    if (count === 0 || total === into.length) return done(null, total);
    readFully(fd, into, total, position, done);
  });
}

function syncDirectory(path: string, done: Callback): void {
  // Windows cannot sync a directory; the log promises nothing about power loss there.
  if (process.platform === 'win32') {
    process.nextTick(done, null);
    return;
  }
  fs.open(path, 'r', (error, fd) => {
    if (error !== null) return done(error);
    fs.fsync(fd, (syncError) => fs.close(fd, (closeError) => done(syncError ?? closeError ?? null)));
  });
}
