// Appends that cannot be taken at once: the buffer is full, or a payload has to become a blob first. They keep their order.

import type { AppendCallback } from '../commit/batch-buffer.js';
import { type AppendOptions, FULL, type Log, REFUSED } from './log.js';

const NOTHING = new Uint8Array(0);

interface Pending {
  readonly record: Uint8Array | readonly Uint8Array[];
  readonly options: AppendOptions | undefined;
  readonly done: AppendCallback;
}

export class AppendQueue {
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

  /** The payload becomes a blob; whoever comes later waits behind it, so that order is kept. */
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
          this.pending[0] = { record: NOTHING, options: { ...options, blob }, done };
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
    const waiting = this.emptyCallbacks;
    this.emptyCallbacks = [];
    for (const run of waiting) run();
  };
}
