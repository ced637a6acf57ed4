// The log with promises, for programs without actors.

import type { BlobRef } from '../blob/blob-ref.js';
import type { RecordVisitor } from '../codec/record-codec.js';
import type { SnapshotEntry } from '../format/manifest.js';
import type { ScrubReport } from '../maintenance/scrub.js';
import type { Fold } from '../snapshot/state-fold.js';
import { promiseOf } from '../storage/coroutine.js';
import type { AppendOptions, Log } from './log.js';
import type { ReplayRange } from './log-reader.js';
import { openLog } from './open-log.js';
import { WaitingAppends } from './waiting-appends.js';
import type { WalOptions } from './wal-options.js';
import type { WalStatus } from './wal-status.js';

/** Opens and recovers the directory, with promises. */
export async function openWal(options: WalOptions): Promise<PromiseLog> {
  return new PromiseLog(await promiseOf((done) => openLog(options, done)));
}

export class PromiseLog implements AsyncDisposable {
  /** The same log with callbacks. */
  readonly log: Log;
  private readonly appends: WaitingAppends;

  constructor(log: Log) {
    this.log = log;
    this.appends = new WaitingAppends(log);
  }

  /**
   * Resolves with the LSN (of the last record, if several) once it is on the disk. Waits while the buffer is
   * full. Several records survive a crash together or not at all.
   */
  append(record: Uint8Array | readonly Uint8Array[], options?: AppendOptions): Promise<number> {
    return new Promise((resolve, reject) => {
      this.appends.append(record, options, (error, lsn) => {
        if (error === null) resolve(lsn);
        else reject(error);
      });
    });
  }

  /** Visits durable records in order; by default those after the snapshot. */
  replay(visit: RecordVisitor, range: ReplayRange = {}): Promise<void> {
    return promiseOf((done) => this.log.replay(range, visit, done));
  }

  /** The state after the last durable record: the snapshot, and the records after it. */
  restore<S>(fold: Fold<S>): Promise<S> {
    return promiseOf((done) => this.log.restore(fold, done));
  }

  /** Makes a snapshot of all records that are durable now, on another thread. */
  snapshot(): Promise<SnapshotEntry> {
    return promiseOf((done) => this.log.makeSnapshot(done));
  }

  /** Drops whole segments up to `lsn` that no kept snapshot needs; resolves with the first LSN left. */
  trim(lsn: number): Promise<number> {
    return promiseOf((done) => this.log.trim(lsn, done));
  }

  /** Stores a payload of any size; durable when it resolves. Then a record may refer to it. */
  putBlob(bytes: Uint8Array): Promise<BlobRef> {
    return promiseOf((done) => this.log.putBlob(bytes, done));
  }

  /** Reads a whole blob into memory. */
  readBlob(ref: BlobRef): Promise<Buffer> {
    return promiseOf((done) => this.log.readBlob(ref, done));
  }

  /** Reads all sealed files at a twentieth of the disk's time, and reports damage. */
  scrub(): Promise<ScrubReport> {
    return promiseOf((done) => this.log.scrub(done));
  }

  /** Positions, sizes and the state of the disk, as of now. */
  status(): WalStatus {
    return this.log.status();
  }

  /** Writes pending records, records the clean shutdown, unlocks. */
  close(): Promise<void> {
    return promiseOf((done) => this.appends.whenEmpty(() => this.log.close(done)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
