// The log with promises, for people who use no actors.

import type { SnapshotEntry } from '../format/manifest.js';
import type { RecordVisitor } from '../format/record.js';
import { AppendQueue } from './append-queue.js';
import { type AppendOptions, type Log, openLog, type ReplayRange } from './log.js';
import type { WalOptions } from './options.js';

export function openWal(options: WalOptions): Promise<Wal> {
  return new Promise((resolve, reject) => {
    openLog(options, (error, log) => {
      if (error === null) resolve(new Wal(log));
      else reject(error);
    });
  });
}

export class Wal implements AsyncDisposable {
  readonly #log: Log;
  readonly #appends: AppendQueue;

  constructor(log: Log) {
    this.#log = log;
    this.#appends = new AppendQueue(log);
  }

  /** The callback face of the same log. */
  get log(): Log {
    return this.#log;
  }

  get snapshotEntry(): SnapshotEntry | undefined {
    return this.#log.snapshot;
  }

  /**
   * Resolves with the LSN (of the last record, if several) once it is on the disk. Waits while the buffer is full. Several records
   * survive a crash together or not at all.
   */
  append(record: Uint8Array | readonly Uint8Array[], options?: AppendOptions): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#appends.append(record, options, (error, lsn) => {
        if (error === null) resolve(lsn);
        else reject(error);
      });
    });
  }

  /** Visits durable records in order; by default those behind the snapshot. */
  replay(visit: RecordVisitor, range: ReplayRange = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#log.replay(range, visit, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#appends.whenEmpty(() => this.#log.close((error) => (error === null ? resolve() : reject(error))));
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
