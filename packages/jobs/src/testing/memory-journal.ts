import { GOOD_CONDITION, type Journal, type OpenJournal } from '../journal/journal.js';
import { assertLedgerReadable, type LedgerFormat } from '../ledger/ledger-format.js';

/** The entries of a memory journal. They outlive the leader that wrote them. */
export interface MemoryLog {
  readonly entries: Uint8Array[];
  /** The format of the entries. Absent: that of this version. */
  format?: LedgerFormat | undefined;
}

/**
 * A journal in memory, for tests of the layers above it. An append is durable when `later` runs its callback,
 * in order. Entries are never lost or torn here; `FaultyStorage` of the log does that.
 */
export function memoryJournal(log: MemoryLog, later: (run: () => void) => void): OpenJournal {
  return (reader, done) => {
    try {
      if (log.format !== undefined) assertLedgerReadable(log.format);
    } catch (error) {
      return done(error as Error); // assertLedgerReadable throws nothing else
    }
    log.format = reader.format;
    log.entries.forEach((entry, i) => {
      reader.entry(entry, i + 1);
    });
    const journal: Journal = {
      condition: GOOD_CONDITION,
      watch: () => undefined,
      isOwner: () => true,
      append(entries, _stored, to) {
        // Copied at once: the caller uses its buffer again after the callback.
        const copies = entries.map((entry) => new Uint8Array(entry));
        later(() => {
          const firstLsn = log.entries.length + 1;
          log.entries.push(...copies);
          to.tell.durable({ error: null, firstLsn });
        });
      },
      snapshot: (made) => later(() => made(null, 0)),
      close: (closed) => later(() => closed(null)),
    };
    done(null, journal);
  };
}
