import type { OpenSpill, SpillLoaded } from '../spill/spill.js';

/** The files of a memory spill. They outlive the leader that wrote them. */
export interface MemoryFiles {
  readonly files: Map<number, Uint8Array>;
  /** Every write and read fails with it. */
  error?: Error | undefined;
}

/** A spill in memory, for tests of the layers above it. `later` runs the answers of calls, in order. */
export function memorySpill(disk: MemoryFiles, later: (run: () => void) => void): OpenSpill {
  return (named, found, done) => {
    for (const [file, bytes] of disk.files) {
      if (named.has(file)) found(file, bytes);
      else disk.files.delete(file);
    }
    done(null, {
      write({ file, position, bytes, to }) {
        const { error = null } = disk;
        const before = disk.files.get(file) ?? new Uint8Array(0);
        if (error === null) disk.files.set(file, Buffer.concat([before.subarray(0, position), bytes]));
        later(() => to.tell.spillWritten({ error }));
      },
      read({ number, file, position, length, to }) {
        const bytes = disk.files.get(file)?.slice(position, position + length) ?? new Uint8Array(0);
        const loaded: SpillLoaded = { number, error: disk.error ?? null, bytes };
        later(() => to.tell.spillLoaded(loaded));
      },
      remove(files) {
        for (const file of files) disk.files.delete(file);
      },
    });
  };
}
