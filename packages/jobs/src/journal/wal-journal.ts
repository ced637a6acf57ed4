import type { Ref } from '@troupe/core';
import { findModuleFile, type ModuleFile } from '@troupe/core/module-file';
import {
  type BlobRef,
  type BlobWriter,
  type CodecName,
  type DurableReceiver,
  type Fold,
  type Log,
  type LogCondition,
  openLog,
  WalActor,
  WalContentError,
  WalDiskSlowError,
  type WalOptions,
  type WalProtocol,
} from '@troupe/wal';
import type { PayloadStore, PayloadWriter } from '../job/payload/payload-store.js';
import { StoredPayload } from '../job/payload/stored-payload.js';
import { LedgerVersionError, LogDiskTooSmallError } from '../jobs-error.js';
import { ENTRY_BYTES_MAX } from '../ledger/codec/record-entry.js';
import { formatProblem } from '../ledger/ledger-format.js';
import type { Journal, JournalOwner, JournalReader, JournalWatcher, OpenJournal } from './journal.js';
import { diskBytes } from './node-disk-size.js';

const MIB = 1024 * 1024;

type Done = (error: Error | null) => void;

/** A journal on a log in files. */
export function walJournal(options: WalOptions): OpenJournal {
  return (reader, done, owner) =>
    checkDisk(options, (problem) => {
      if (problem !== null) done(problem);
      else openWal(options, reader, done, owner);
    });
}

const FOLD: ModuleFile = {
  path: '../ledger/ledger-fold.js',
  from: import.meta.url,
  entry: '@troupe/jobs/ledger-fold',
};

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
  owner: JournalOwner,
): void {
  const fold = { module: findModuleFile(FOLD)?.href ?? FOLD.path, export: 'ledgerFold' };
  const content = reader.format;
  openLog({ inlineBytesMax: ENTRY_BYTES_MAX, fold, ...options, content }, (error, log) => {
    if (error !== null) return done(versionErrorOf(error));
    log.restore(foldInto(reader, log), (problem) => {
      if (problem === null) done(null, new WalJournal(log, owner, options.codec));
      else log.close(() => done(problem));
    });
  });
}

function versionErrorOf(error: Error): Error {
  if (!(error instanceof WalContentError)) return error;
  return new LedgerVersionError(formatProblem(error.found), { cause: error });
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

/** The journal of a leader whose log is an actor: appends are messages of the log, and so are its answers. */
class WalJournal implements Journal {
  private readonly log: Log;
  private readonly ref: Ref<WalProtocol>;
  private readonly owner: JournalOwner;
  readonly codec: CodecName | undefined;
  readonly level = 'fsync';
  readonly entryBytesMax: number;
  readonly condition: LogCondition;
  readonly payloads: PayloadStore;

  constructor(log: Log, owner: JournalOwner, codec: CodecName | undefined) {
    this.codec = codec;
    this.log = log;
    this.owner = owner;
    this.ref = owner.spawn(WalActor, { args: { log }, name: 'log' });
    this.entryBytesMax = log.inlineBytesMax;
    this.condition = log.condition;
    this.payloads = payloadStore(log);
  }

  /** A file log is looked at by `isOwner`, so it never reports a loss. */
  watch(watcher: JournalWatcher): void {
    this.ref.tell.watch(watcher);
  }

  isOwner(): boolean {
    return this.log.isOwner();
  }

  /** The leader has a bounded number of appends here, so the mailbox of the log is never full. */
  append(
    records: readonly Uint8Array[],
    stored: ReadonlyMap<number, StoredPayload> | undefined,
    to: DurableReceiver,
  ): void {
    this.ref.tell.write({ records, blobs: stored && blobsOf(stored), to });
  }

  snapshot(done: (error: Error | null, lsn: number) => void): void {
    this.owner
      .ask(this.ref, { withinMs: SNAPSHOT_WITHIN_MS })
      .snapshot()
      .then(
        ({ lsn }) => done(null, lsn),
        (error: Error) => done(error, 0),
      );
  }

  close(done: (error: Error | null) => void): void {
    this.owner
      .ask(this.ref, { withinMs: CLOSE_WITHIN_MS })
      .close()
      .then(
        () => done(null),
        (error: Error) => done(error),
      );
  }
}

const SNAPSHOT_WITHIN_MS = 3_600_000;
const CLOSE_WITHIN_MS = 60_000;

function blobsOf(stored: ReadonlyMap<number, StoredPayload>): ReadonlyMap<number, BlobRef> {
  return new Map([...stored].map(([index, payload]) => [index, blobOf(payload)]));
}

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
