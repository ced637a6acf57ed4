import type { Callback, OpenMode, Storage, StorageFile } from '@troupe/wal';

/** A file that is open, and the calls that use it: it is not closed under them. */
interface OpenFile {
  readonly handle: StorageFile;
  uses: number;
  isUnwanted: boolean;
}

/** Files that stay open for reading. */
const OPEN_FILES_MAX = 16;

/** Files of a storage by name, opened when they are first used. */
export class OpenFiles {
  private readonly storage: Storage;
  /** The one that was used last stands at the end. */
  private readonly files = new Map<string, OpenFile>();
  /** Open for writing: never closed to make room. */
  private written = '';

  constructor(storage: Storage) {
    this.storage = storage;
  }

  /** Runs a call on a new file, or on one that was made by it. */
  write<T>(
    name: string,
    mode: OpenMode,
    run: (handle: StorageFile, done: Callback<T>) => void,
    done: Callback<T>,
  ): void {
    this.written = name;
    this.use(name, mode, run, done);
  }

  read<T>(name: string, run: (handle: StorageFile, done: Callback<T>) => void, done: Callback<T>): void {
    this.use(name, 'read', run, done);
  }

  close(name: string): void {
    const file = this.files.get(name);
    if (file === undefined) return;
    this.files.delete(name);
    file.isUnwanted = true;
    this.closeUnused(file);
  }

  closeAll(): void {
    for (const name of [...this.files.keys()]) this.close(name);
  }

  private use<T>(
    name: string,
    mode: OpenMode,
    run: (handle: StorageFile, done: Callback<T>) => void,
    done: Callback<T>,
  ): void {
    const known = this.files.get(name);
    if (known !== undefined) return this.run(name, known, run, done);
    this.storage.open(name, mode, (error, handle) => {
      if (error !== null) return done(error, undefined as T);
      // Two calls may have opened it at the same time.
      const other = this.files.get(name);
      if (other !== undefined) this.storage.close(handle, ignoreError);
      this.run(name, other ?? { handle, uses: 0, isUnwanted: false }, run, done);
      this.closeOldest();
    });
  }

  private run<T>(
    name: string,
    file: OpenFile,
    run: (handle: StorageFile, done: Callback<T>) => void,
    done: Callback<T>,
  ): void {
    this.files.delete(name);
    this.files.set(name, file);
    file.uses += 1;
    run(file.handle, (error, value) => {
      file.uses -= 1;
      this.closeUnused(file);
      done(error, value);
    });
  }

  private closeOldest(): void {
    for (const name of this.files.keys()) {
      if (this.files.size <= OPEN_FILES_MAX) return;
      if (name !== this.written) this.close(name);
    }
  }

  private closeUnused({ handle, uses, isUnwanted }: OpenFile): void {
    if (uses === 0 && isUnwanted) this.storage.close(handle, ignoreError);
  }
}

/** The bytes of the file were written or read already. */
function ignoreError(): void {
  // There is nothing left to do with the file.
}
