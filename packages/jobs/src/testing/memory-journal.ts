import { JournalDeposedError } from '../jobs-error.js';
import { GOOD_CONDITION, type Journal, type JournalReader, type OpenJournal } from '../journal/journal.js';
import { ledgerContents } from '../ledger/ledger-contents.js';
import { assertLedgerReadable, type LedgerFormat } from '../ledger/ledger-format.js';

/** The entries of a memory journal. They outlive the leader that wrote them. */
export interface MemoryLog {
  /** Chunks of streams, by the number of their file. */
  readonly files?: Map<number, Uint8Array> | undefined;
  /** The entries behind the snapshot. */
  readonly entries: Uint8Array[];
  snapshot?: { readonly chunks: readonly Uint8Array[]; readonly lsn: number } | undefined;
  /** The format of the entries. Absent: that of this version. */
  format?: LedgerFormat | undefined;
  /** Openings so far: the latest one owns the log. */
  epoch?: number | undefined;
}

/**
 * A journal in memory, for tests of the layers above it. An append is durable when `later` runs its callback,
 * in order. Entries are never lost or torn here; `FaultyStorage` of the log does that.
 */
export function memoryJournal(log: MemoryLog, later: (run: () => void) => void): OpenJournal {
  return (reader, done) => {
    try {
      if (log.format !== undefined) assertLedgerReadable(log.format, reader.format);
    } catch (error) {
      return done(error as Error); // assertLedgerReadable throws nothing else
    }
    log.format = reader.format;
    log.epoch = (log.epoch ?? 0) + 1;
    read(log, reader);
    done(null, journalOf(log, log.epoch, later));
  };
}

function read({ entries, snapshot }: MemoryLog, reader: JournalReader): void {
  for (const chunk of snapshot?.chunks ?? []) reader.snapshot(chunk, snapshot?.lsn ?? 0);
  entries.forEach((entry, i) => {
    reader.entry(entry, (snapshot?.lsn ?? 0) + i + 1);
  });
}

function journalOf(log: MemoryLog, epoch: number, later: (run: () => void) => void): Journal {
  const isOwner = (): boolean => log.epoch === epoch;
  return {
    level: 'memory',
    entryBytesMax: Number.MAX_SAFE_INTEGER,
    condition: GOOD_CONDITION,
    watch: () => undefined,
    isOwner,
    append(entries, _stored, to) {
      // Copied at once: the caller uses its buffer again after the callback.
      const copies = entries.map((entry) => new Uint8Array(entry));
      later(() => {
        if (!isOwner()) {
          const error = new JournalDeposedError('another leader has opened it');
          return to.tell.durable({ error, firstLsn: 0 });
        }
        const firstLsn = lastLsn(log) + 1;
        log.entries.push(...copies);
        to.tell.durable({ error: null, firstLsn });
      });
    },
    snapshot: (made) =>
      later(() => {
        if (isOwner()) snapshot(log);
        made(null, log.snapshot?.lsn ?? 0);
      }),
    close: (closed) => later(() => closed(null)),
  };
}

function lastLsn({ entries, snapshot }: MemoryLog): number {
  return (snapshot?.lsn ?? 0) + entries.length;
}

/** Replaces the entries by the state that they make. */
function snapshot(log: MemoryLog): void {
  const contents = ledgerContents();
  for (const chunk of log.snapshot?.chunks ?? []) contents.restore(chunk);
  for (const entry of log.entries) contents.apply(entry);
  const lsn = lastLsn(log);
  // The chunks are valid only until the next one is made.
  log.snapshot = { chunks: Array.from(contents.save(), (chunk) => new Uint8Array(chunk)), lsn };
  log.entries.length = 0;
}
