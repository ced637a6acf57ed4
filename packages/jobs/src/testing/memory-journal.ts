import type { Journal, OpenJournal } from '../journal/journal.js';

/** What a memory journal keeps between two leaders. */
export interface MemoryLog {
  readonly entries: Uint8Array[];
}

/**
 * A journal in memory, for tests of what stands above it. Durable when `later` runs its callback, in order; nothing is lost or
 * torn here, that is the faulty storage's business.
 */
export function memoryJournal(log: MemoryLog, later: (run: () => void) => void): OpenJournal {
  return (reader, done) => {
    log.entries.forEach((entry, i) => {
      reader.entry(entry, i + 1);
    });
    const journal: Journal = {
      low: false,
      append(entries, appended) {
        // Copied at once: the caller's buffer is its own again after the callback, not before.
        const copies = entries.map((entry) => new Uint8Array(entry));
        later(() => {
          const firstLsn = log.entries.length + 1;
          log.entries.push(...copies);
          appended(undefined, firstLsn);
        });
      },
      snapshot: (made) => later(() => made(undefined, 0)),
      close: (closed) => later(() => closed(undefined)),
    };
    done(undefined, journal);
  };
}
