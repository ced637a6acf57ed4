// One worker_thread with typed ends: its failures are errors of this package, and it ends exactly once.

import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { TransferListItem } from '../value/transfer.js';
import { ThreadEndedError, ThreadMemoryError } from './thread-errors.js';

export interface ThreadSpec {
  readonly name: string;
  readonly boot: URL;
  readonly data: unknown;
  readonly transfer?: readonly TransferListItem[] | undefined;
  readonly resourceLimits?: ResourceLimits | undefined;
}

export interface ThreadListener {
  onMessage(message: unknown): void;
  /** Exactly once, after the last message. `error` is a ThreadMemoryError or a ThreadEndedError. */
  onEnd(error: ThreadEndedError | ThreadMemoryError, exitCode: number): void;
}

export class NodeThread {
  private readonly worker: Worker;
  private readonly name: string;
  private failure: unknown;

  /** Throws if the thread cannot be created at all. */
  constructor(spec: ThreadSpec, listener: ThreadListener) {
    this.name = spec.name;
    this.worker = new Worker(spec.boot, {
      name: spec.name,
      workerData: spec.data,
      transferList: [...(spec.transfer ?? [])],
      ...(spec.resourceLimits === undefined ? {} : { resourceLimits: spec.resourceLimits }),
    });
    this.worker.on('message', (message) => listener.onMessage(message));
    this.worker.on('error', (error) => {
      this.failure = error;
    });
    this.worker.on('exit', (code) => listener.onEnd(this.endOf(code), code));
  }

  post(message: unknown, transfer?: readonly TransferListItem[]): void {
    this.worker.postMessage(message, transfer);
  }

  /** Whether this thread alone keeps the process alive. */
  hold(hold: boolean): void {
    if (hold) this.worker.ref();
    else this.worker.unref();
  }

  /** The thread ends at whatever instruction it is; `onEnd` follows. */
  terminate(): void {
    // A termination cannot fail: its promise is that of the exit code.
    void this.worker.terminate();
  }

  private endOf(exitCode: number): ThreadEndedError | ThreadMemoryError {
    const { failure } = this;
    const code = (failure as NodeJS.ErrnoException | undefined)?.code;
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') return new ThreadMemoryError(this.name, failure);
    return new ThreadEndedError(this.name, exitCode, failure);
  }
}
