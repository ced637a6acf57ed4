import { type Actor, defineActor } from '@troupe/core';
import type { Callback, Storage, StorageFile } from '@troupe/wal';
import { OpenFiles } from './open-files.js';
import type { SpillRead, SpillWrite } from './spill.js';

/** The folder of the files, beside the files of the log. */
export const SPILL_FOLDER = 'streams';

export function spillFileName(file: number): string {
  return `${SPILL_FOLDER}/${file}.spill`;
}

/** Undefined: not the name of a file of the spill. */
export function spillFileOf(name: string): number | undefined {
  const digits = /^([1-9]\d{0,14})\.spill$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const NO_BYTES = new Uint8Array(0);

interface SpillProtocol {
  write(write: SpillWrite): void;
  read(read: SpillRead): void;
  remove(files: readonly number[]): void;
}

class SpillState {
  readonly storage: Storage;
  readonly files: OpenFiles;
  /** The file whose name is on the disk; another one is written only after it. */
  syncedFile = 0;
  /** Its leader ends, too: no message may follow. */
  isEnded = false;

  constructor(storage: Storage) {
    this.storage = storage;
    this.files = new OpenFiles(storage);
  }
}

/** The files of a spill as an actor, a child of the leader. */
export const SpillActor: Actor<SpillProtocol, Storage> = defineActor.of<SpillProtocol>()('spill', {
  state: (storage: Storage) => new SpillState(storage),
  handlers: {
    write({ state }, request) {
      const { files } = state;
      const { file, position, to } = request;
      const mode = position === 0 ? 'create' : 'read';
      files.write<void>(
        spillFileName(file),
        mode,
        (handle, done) => writeAll(state, handle, request, done),
        (error) => {
          if (!state.isEnded) to.tell.spillWritten({ error });
        },
      );
    },
    read({ state }, { number, file, position, length, to }) {
      const { files, storage } = state;
      const bytes = Buffer.allocUnsafeSlow(length);
      files.read<number>(
        spillFileName(file),
        (handle, done) => storage.read(handle, bytes, position, done),
        (error, count) => {
          if (state.isEnded) return;
          to.tell.spillLoaded({ number, error, bytes: error === null ? bytes.subarray(0, count) : NO_BYTES });
        },
      );
    },
    remove({ state: { files, storage } }, numbers) {
      for (const name of numbers.map(spillFileName)) {
        files.close(name);
        storage.unlink(name, ignoreError);
      }
    },
  },
  stopped({ state }) {
    state.isEnded = true;
    state.files.closeAll();
  },
  // The leader has one write under way, a bounded number of reads, and few removals.
  mailbox: { capacity: 1_024, overflow: 'mute-sender' },
});

function writeAll(state: SpillState, handle: StorageFile, write: SpillWrite, done: Callback): void {
  const { storage } = state;
  const { file, bytes, position, isDurable } = write;
  storage.write(handle, bytes, position, (error, count) => {
    if (error !== null) return done(error);
    if (count < bytes.length) return done(new Error(`${count} of ${bytes.length} bytes were written`));
    if (!isDurable) return done(null);
    storage.sync(handle, (failed) => {
      if (failed !== null || state.syncedFile === file) return done(failed);
      // The name of the file, too.
      storage.syncDir(SPILL_FOLDER, (unnamed) => {
        if (unnamed === null) state.syncedFile = file;
        done(unnamed);
      });
    });
  });
}

/** No record names the file, so the next opening removes it. */
function ignoreError(): void {
  // It stays until then.
}
