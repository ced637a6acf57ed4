// The log with promises, for people who use no actors.

import type { SnapshotEntry } from '../format/manifest.js';
import type { BlobRef, RecordVisitor } from '../format/record.js';
import type { ScrubReport } from '../maintenance/scrub.js';
import type { Fold } from '../snapshot/fold.js';
import type { Callback } from '../storage/storage.js';
import { AppendQueue } from './append-queue.js';
import type { AppendOptions, Log, ReplayRange } from './log.js';
import { openLog } from './open-log.js';
import type { WalOptions } from './options.js';
import type { WalStatus } from './status.js';

export function openWal(options: WalOptions): Promise<PromiseLog> {
  return promised<Log>((done) => openLog(options, done)).then((log) => new PromiseLog(log));
}

export class PromiseLog implements AsyncDisposable {
  private readonly callbackLog: Log;
  private readonly appends: AppendQueue;

  constructor(log: Log) {
    this.callbackLog = log;
    this.appends = new AppendQueue(log);
  }

  /** The callback face of the same log. */
  get log(): Log {
    return this.callbackLog;
  }

  /**
   * Resolves with the LSN (of the last record, if several) once it is on the disk. Waits while the buffer is full. Several records
   * survive a crash together or not at all.
   */
  append(record: Uint8Array | readonly Uint8Array[], options?: AppendOptions): Promise<number> {
    return new Promise((resolve, reject) => {
      this.appends.append(record, options, (error, lsn) => {
        if (error === null) resolve(lsn);
        else reject(error);
      });
    });
  }

  /** Visits durable records in order; by default those behind the snapshot. */
  replay(visit: RecordVisitor, range: ReplayRange = {}): Promise<void> {
    return promised((done) => this.callbackLog.replay(range, visit, done));
  }

  /** The state behind the last durable record: the snapshot, and the records behind it. */
  restore<S>(fold: Fold<S>): Promise<S> {
    return promised((done) => this.callbackLog.restore(fold, done));
  }

  /** A snapshot of everything that is durable now, made off this loop. */
  snapshot(): Promise<SnapshotEntry> {
    return promised((done) => this.callbackLog.makeSnapshot(done));
  }

  /** Forgets whole segments up to `lsn`, as far as no kept snapshot needs them; resolves with the first LSN left. */
  trim(lsn: number): Promise<number> {
    return promised((done) => this.callbackLog.trim(lsn, done));
  }

  putBlob(bytes: Uint8Array): Promise<BlobRef> {
    return promised((done) => this.callbackLog.putBlob(bytes, done));
  }

  readBlob(ref: BlobRef): Promise<Buffer> {
    return promised((done) => this.callbackLog.readBlob(ref, done));
  }

  scrub(): Promise<ScrubReport> {
    return promised((done) => this.callbackLog.scrub(done));
  }

  status(): WalStatus {
    return this.callbackLog.status();
  }

  close(): Promise<void> {
    return promised((done) => this.appends.whenEmpty(() => this.callbackLog.close(done)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function promised<T>(start: (done: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error === null ? resolve(value) : reject(error)));
  });
}
