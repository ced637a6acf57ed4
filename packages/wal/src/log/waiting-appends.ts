// Appends that wait, in order, while the buffer is full or a large payload is stored as a blob.

import type { AppendCallback } from '../commit/append-callbacks.js';
import { type AppendOptions, FULL, type Log, REFUSED } from './log.js';

const NO_BYTES = new Uint8Array(0);

interface Pending {
  readonly record: Uint8Array | readonly Uint8Array[];
  readonly options: AppendOptions | undefined;
  readonly done: AppendCallback;
}

export class WaitingAppends {
  private readonly log: Log;
  private pending: Pending[] = [];
  private emptyCallbacks: (() => void)[] = [];

  constructor(log: Log) {
    this.log = log;
  }

  append(
    record: Uint8Array | readonly Uint8Array[],
    options: AppendOptions | undefined,
    done: AppendCallback,
  ): void {
    if (this.pending.length === 0 && this.tryAppend(record, options, done)) return;
    this.pending.push({ record, options, done });
  }

  whenEmpty(run: () => void): void {
    if (this.pending.length === 0) run();
    else this.emptyCallbacks.push(run);
  }

  /** False if it has to wait. */
  private tryAppend(
    record: Uint8Array | readonly Uint8Array[],
    options: AppendOptions | undefined,
    done: AppendCallback,
  ): boolean {
    const single = record instanceof Uint8Array;
    if (single && record.length > this.log.inlineBytesMax) return this.storeAsBlob(record, options, done);
    let lsn: number;
    try {
      lsn = single ? this.log.append(record, done, options) : this.log.appendAll(record, done, options);
    } catch (error) {
      done(error as Error, 0);
      return true;
    }
    if (lsn === REFUSED) done(this.log.refusal(options) ?? null, 0);
    if (lsn === FULL) this.log.onBufferSpace(this.retry);
    return lsn !== FULL;
  }

  /** Stores the payload as a blob. Later appends wait for it, so that the order is kept. */
  private storeAsBlob(
    payload: Uint8Array,
    options: AppendOptions | undefined,
    done: AppendCallback,
  ): boolean {
    const refusal = this.log.refusal(options);
    if (refusal !== undefined) {
      done(refusal, 0);
      return true;
    }
    this.log.putBlob(
      payload,
      (error, blob) => {
        if (error !== null) {
          this.pending.shift();
          done(error, 0);
        } else {
          this.pending[0] = { record: NO_BYTES, options: { ...options, blob }, done };
        }
        this.retry();
      },
      options,
    );
    return false;
  }

  private readonly retry = (): void => {
    let taken = 0;
    for (const { record, options, done } of this.pending) {
      if (!this.tryAppend(record, options, done)) break;
      taken += 1;
    }
    this.pending.splice(0, taken);
    if (this.pending.length > 0) return;
    const callbacks = this.emptyCallbacks;
    this.emptyCallbacks = [];
    for (const run of callbacks) run();
  };
}
