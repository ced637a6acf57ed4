import {
  type BlobRef,
  type BlobWriter,
  type Fold,
  FULL,
  type Log,
  openLog,
  REFUSED,
  WalDiskSlowError,
  type WalEvent,
  type WalOptions,
} from '@troupe/wal';
import type { PayloadStore, PayloadWriter } from '../job/payload-store.js';
import { StoredPayload } from '../job/stored-payload.js';
import { JournalFailedError, LogDiskTooSmallError } from '../jobs-error.js';
import type { Journal, JournalReader, JournalStatus, OpenJournal } from './journal.js';
import { diskBytes } from './node-disk-size.js';

/** More than any entry of a leader: a payload at its limit, or a whole batch, with its framing. */
const ENTRY_BYTES_MAX = 12 * 1024 * 1024 - 4_096;

interface PendingAppend {
  readonly entries: readonly Uint8Array[];
  readonly done: AppendDone;
  readonly stored: ReadonlyMap<number, StoredPayload>;
}

const MIB = 1024 * 1024;

type Done = (error: Error | null) => void;
type AppendDone = (error: Error | null, firstLsn: number) => void;

/** A journal on a log in files. */
export function walJournal(options: WalOptions): OpenJournal {
  return (reader, done) =>
    checkDisk(options, (problem) => {
      if (problem !== null) done(problem);
      else openWal(options, reader, done);
    });
}

/** A disk that is smaller than the space to be kept free would never take a job. */
function checkDisk({ dir, freeBytesSoft, segmentBytes = 64 * MIB }: WalOptions, done: Done): void {
  const soft = freeBytesSoft ?? Math.max(1024 * MIB, 4 * segmentBytes);
  if (dir === undefined || soft === 0) return done(null);
  diskBytes(dir, (error, bytes) => {
    // A folder that cannot be looked at is reported by the log itself; a pseudo file system has no size.
    if (error !== null || bytes === 0 || bytes >= soft) done(null);
    else done(new LogDiskTooSmallError(dir, bytes, soft));
  });
}

function openWal(
  options: WalOptions,
  reader: JournalReader,
  done: (error: Error | null, journal?: Journal) => void,
): void {
  const fold = { module: new URL('../ledger/ledger-fold.js', import.meta.url).href, export: 'ledgerFold' };
  const figures = { cutBytes: 0, failedSnapshots: 0 };
  const onEvent = (event: WalEvent): void => {
    countEvent(figures, event);
    options.onEvent?.(event);
  };
  openLog({ inlineBytesMax: ENTRY_BYTES_MAX, fold, ...options, onEvent }, (error, log) => {
    if (error !== null) return done(error);
    log.restore(foldInto(reader, log), (problem) => {
      if (problem === null) done(null, new WalJournal(log, figures));
      else log.close(() => done(problem));
    });
  });
}

interface EventFigures {
  cutBytes: number;
  failedSnapshots: number;
}

function countEvent(figures: EventFigures, event: WalEvent): void {
  if (event.kind === 'torn-tail') figures.cutBytes += event.bytes;
  else if (event.kind === 'snapshot-failed') figures.failedSnapshots = event.consecutiveFailures;
  else if (event.kind === 'snapshot-made') figures.failedSnapshots = 0;
}

/** Recovery passes every chunk and entry on to the reader; the log itself keeps no state. */
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
  private readonly figures: EventFigures;
  /** Appends that found the log's buffer full; the first may be appended in part. */
  private readonly waiting: PendingAppend[] = [];
  readonly payloads: PayloadStore;

  constructor(log: Log, figures: EventFigures) {
    this.log = log;
    this.figures = figures;
    this.payloads = payloadStore(log);
  }

  get diskLow(): boolean {
    const refusal = this.log.refusal();
    return refusal !== undefined && !(refusal instanceof WalDiskSlowError);
  }

  get diskSlow(): boolean {
    return this.log.refusal() instanceof WalDiskSlowError;
  }

  isOwner(): boolean {
    return this.log.isOwner();
  }

  status(): JournalStatus {
    return { bytes: this.log.status().sealedBytes, ...this.figures };
  }

  append(
    entries: readonly Uint8Array[],
    done: AppendDone,
    stored: ReadonlyMap<number, StoredPayload> = NO_PAYLOADS,
  ): void {
    const append = { entries, done, stored };
    // Appends that wait for room go first.
    if (this.waiting.length > 0) this.waiting.push(append);
    else this.appendFrom(append, 0, this.log.nextLsn);
  }

  snapshot(done: (error: Error | null, lsn: number) => void): void {
    this.log.makeSnapshot((error, entry) => done(error, error === null ? entry.lsn : 0));
  }

  close(done: (error: Error | null) => void): void {
    this.log.close(done);
  }

  private resume(from: number, firstLsn: number): void {
    const partial = this.waiting.shift();
    if (partial === undefined) return;
    this.appendFrom(partial, from, firstLsn);
    while (this.waiting.length > 0) {
      const waiting = this.waiting.length;
      this.appendFrom(this.waiting.shift() as PendingAppend, 0, this.log.nextLsn);
      // Full again: the append that did not fit is at the head once more.
      if (this.waiting.length >= waiting) return;
    }
  }

  /** No other append comes between two parts of one: others wait behind it. */
  private appendFrom(append: PendingAppend, from: number, firstLsn: number): void {
    const { entries, done, stored } = append;
    for (let i = from; i < entries.length; i += 1) {
      const isLast = i === entries.length - 1;
      const durable = isLast ? (error: Error | null) => done(error, firstLsn) : undefined;
      // The leader refuses submits when space is short; records that it has decided to write must be written.
      const payload = stored.get(i);
      const options = payload === undefined ? ESSENTIAL : { ...ESSENTIAL, blob: blobOf(payload) };
      const lsn = this.log.append(entries[i] as Uint8Array, durable, options);
      if (lsn === FULL) {
        this.waiting.unshift(append);
        this.log.onBufferSpace(() => this.resume(i, firstLsn));
        return;
      }
      if (lsn === REFUSED) {
        done(this.log.refusal(ESSENTIAL) ?? new JournalFailedError('the log refuses entries'), 0);
        return;
      }
    }
  }
}

const ESSENTIAL = { essential: true };
const NO_PAYLOADS: ReadonlyMap<number, StoredPayload> = new Map();

function blobOf({ sha256, length }: StoredPayload): BlobRef {
  return { sha256, bytes: length };
}

/** Large payloads are blobs of the log, which keeps them as long as a record or a snapshot names them. */
function payloadStore(log: Log): PayloadStore {
  return {
    write() {
      const writer = log.openBlobWriter();
      return writer === undefined ? undefined : payloadWriter(writer);
    },
    isSlow: () => log.refusal() instanceof WalDiskSlowError,
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
        else done(error, NO_PAYLOAD);
      }),
    abandon: () => writer.abort(),
  };
}

const NO_PAYLOAD = new StoredPayload('', 0);
