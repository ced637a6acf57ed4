import {
  type BlobRef,
  type BlobWriter,
  type Fold,
  FULL,
  type Log,
  openLog,
  REFUSED,
  type WalOptions,
} from '@troupe/wal';
import { type PayloadStore, type PayloadWriter, StoredPayload } from '../job/stored-payload.js';
import { JournalFailedError } from '../jobs-error.js';
import type { Journal, JournalReader, OpenJournal } from './journal.js';

/** Above any entry a leader writes: a payload at its limit, or a whole batch, with its framing. */
const ENTRY_BYTES_MAX = 12 * 1024 * 1024 - 4_096;

interface Append {
  readonly entries: readonly Uint8Array[];
  readonly done: Appended;
  readonly stored: ReadonlyMap<number, StoredPayload>;
}

type Appended = (error: Error | undefined, firstLsn: number) => void;

/** The journal on a log in files. `onFatal` of the options is the leader's to give. */
export function walJournal(options: WalOptions): OpenJournal {
  return (reader, done) => {
    const fold = { module: new URL('../ledger/ledger-fold.js', import.meta.url).href, export: 'ledgerFold' };
    openLog({ inlineBytesMax: ENTRY_BYTES_MAX, fold, ...options }, (error, log) => {
      if (error !== null) return done(error);
      log.restore(foldInto(reader, log), (problem) => {
        if (problem === null) done(undefined, new WalJournal(log));
        else log.close(() => done(problem));
      });
    });
  };
}

/** Recovery folds into whatever the reader is; the log keeps nothing of it. */
function foldInto(reader: JournalReader, log: Log): Fold<undefined> {
  return {
    empty: () => undefined,
    apply: (_state, lsn, payload) => reader.entry(payload, lsn),
    restore: (_state, chunk) => reader.snapshot(chunk, log.snapshot?.lsn ?? 0),
    save: () => [],
  };
}

class WalJournal implements Journal {
  private readonly log: Log;
  /** Appends that found the log's buffer full; the first may be half done. */
  private readonly waiting: Append[] = [];
  readonly payloads: PayloadStore;

  constructor(log: Log) {
    this.log = log;
    this.payloads = payloadStore(log);
  }

  get low(): boolean {
    return this.log.refusal() !== undefined;
  }

  append(
    entries: readonly Uint8Array[],
    done: Appended,
    stored: ReadonlyMap<number, StoredPayload> = NONE,
  ): void {
    const append = { entries, done, stored };
    // What waits for room goes first.
    if (this.waiting.length > 0) this.waiting.push(append);
    else this.appendFrom(append, 0, this.log.nextLsn);
  }

  snapshot(done: (error: Error | undefined, lsn: number) => void): void {
    this.log.makeSnapshot((error, entry) => done(error ?? undefined, error === null ? entry.lsn : 0));
  }

  close(done: (error: Error | undefined) => void): void {
    this.log.close((error) => done(error ?? undefined));
  }

  private resume(from: number, firstLsn: number): void {
    const half = this.waiting.shift();
    if (half === undefined) return;
    this.appendFrom(half, from, firstLsn);
    while (this.waiting.length > 0) {
      const held = this.waiting.length;
      this.appendFrom(this.waiting.shift() as Append, 0, this.log.nextLsn);
      // Full again: what did not fit stands at the head once more.
      if (this.waiting.length >= held) return;
    }
  }

  /** Nothing comes between two parts of one append: others wait behind it. */
  private appendFrom(append: Append, from: number, firstLsn: number): void {
    const { entries, done, stored } = append;
    for (let i = from; i < entries.length; i += 1) {
      const last = i === entries.length - 1;
      const durable = last ? (error: Error | null) => done(error ?? undefined, firstLsn) : undefined;
      // Refusing submits when space is short is the leader's business; what it has decided to write must be written.
      const named = stored.get(i);
      const options = named === undefined ? ESSENTIAL : { ...ESSENTIAL, blob: blobOf(named) };
      const lsn = this.log.append(entries[i] as Uint8Array, durable, options);
      if (lsn === FULL) {
        this.waiting.unshift(append);
        this.log.onBufferSpace(() => this.resume(i, firstLsn));
        return;
      }
      if (lsn === REFUSED) {
        done(this.log.refusal(ESSENTIAL) ?? new JournalFailedError('the log takes nothing'), 0);
        return;
      }
    }
  }
}

const ESSENTIAL = { essential: true };
const NONE: ReadonlyMap<number, StoredPayload> = new Map();

function blobOf({ sha256, length }: StoredPayload): BlobRef {
  return { sha256, bytes: length };
}

/** Large payloads are blobs of the log: it keeps them as long as a record or a snapshot names them. */
function payloadStore(log: Log): PayloadStore {
  return {
    write() {
      const writer = log.openBlobWriter();
      return writer === undefined ? undefined : payloadWriter(writer);
    },
    open: (payload) => log.openBlobReader(blobOf(payload)),
    release: (payload) => log.releaseBlob(blobOf(payload)),
  };
}

function payloadWriter(writer: BlobWriter): PayloadWriter {
  return {
    write: (chunk, done) => writer.write(chunk, done),
    finish: (done) =>
      writer.finish((error, ref) => {
        if (error === null) done(null, new StoredPayload(ref.sha256, ref.bytes));
        else done(error, NOTHING);
      }),
    abandon: () => writer.abort(),
  };
}

const NOTHING = new StoredPayload('', 0);
