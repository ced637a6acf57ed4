// The log's port to the disk. Names are relative to its directory ('CURRENT', 'blobs/ab…').
//
// Contract: callbacks, so that a simulator can make every completion an event of its own. `done` is called
// exactly once and never before the call has returned; after a crash it is not called at all.

/** With an error the value is meaningless. */
export type Callback<T = void> = (error: Error | null, value: T) => void;

export interface StorageFile {
  readonly name: string;
}

/**
 * 'read': an existing file. 'create': a new file for reading and writing; fails if it exists. 'durable': an
 * existing file for `writeDurable`.
 */
export type OpenMode = 'read' | 'create' | 'durable';

export interface Storage {
  /**
   * Locks the directory, which is created if need be, or fails with ERR_WAL_LOCKED. Passes the reason why the
   * kernel's own lock is not held, if it is not: another process may then not see this one.
   */
  lock(done: Callback<string | undefined>): void;
  unlock(done: Callback): void;

  open(name: string, mode: OpenMode, done: Callback<StorageFile>): void;
  close(file: StorageFile, done: Callback): void;
  /** Bytes read; fewer than requested only at the end of the file. */
  read(file: StorageFile, into: Uint8Array, position: number, done: Callback<number>): void;
  /** As read, on the calling thread: for a few bytes of a file that stays in the page cache. Throws. */
  readNow(file: StorageFile, into: Uint8Array, position: number): number;
  /** Bytes written; the caller must compare. */
  write(file: StorageFile, bytes: Uint8Array, position: number, done: Callback<number>): void;
  /**
   * As write, and the bytes are on stable storage when `done` is called without an error. With `mayBlock` the
   * call may block the thread where the disk is fast, since no other record waits; `done` is called later all
   * the same.
   */
  writeDurable(
    file: StorageFile,
    bytes: Uint8Array,
    position: number,
    done: Callback<number>,
    options?: { readonly mayBlock: boolean },
  ): void;
  sync(file: StorageFile, done: Callback): void;

  /** Size in bytes; undefined if there is no such file. */
  size(name: string, done: Callback<number | undefined>): void;
  truncate(name: string, bytes: number, done: Callback): void;
  rename(from: string, to: string, done: Callback): void;
  unlink(name: string, done: Callback): void;
  /** No error if it exists. */
  mkdir(name: string, done: Callback): void;
  /** Plain names in no particular order; empty if there is no such directory. */
  list(directory: string, done: Callback<string[]>): void;
  /** Makes entries of the directory durable. */
  syncDir(directory: string, done: Callback): void;
  /** The name of the network file system that holds the directory; undefined for any other. */
  networkFileSystem(done: Callback<string | undefined>): void;
  /** Free bytes; undefined where they are unknown. */
  freeBytes(done: Callback<number | undefined>): void;
}
