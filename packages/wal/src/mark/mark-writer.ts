// Writes the mark behind the acknowledgements: at most 50 ms after a batch, and no batch waits for it.

import type { Committer } from '../commit/committer.js';
import type { EpochFence } from '../fencing/epoch-fence.js';
import { encodeMark, type MarkRecord } from '../format/mark-record.js';
import { copyOffset } from '../format/paired-record.js';
import type { WalHost } from '../host/wal-host.js';
import { type Coroutine, call, runCoroutine } from '../storage/coroutine.js';
import { isFatal } from '../storage/error-severity.js';
import { writeDurably } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalIoError } from '../wal-error.js';
import type { OpenMark } from './mark-file.js';

const DELAY_MS = 50;

export class MarkWriter {
  readonly file: StorageFile;
  private readonly storage: Storage;
  private readonly host: WalHost;
  private readonly committer: Committer;
  private readonly fence: EpochFence;
  private readonly onFatal: (error: Error) => void;
  private written: MarkRecord;
  private timer: unknown;
  private isWriting = false;
  private isStopped = false;
  private idleCallback: (() => void) | undefined;

  constructor(
    storage: Storage,
    host: WalHost,
    options: {
      readonly mark: OpenMark;
      readonly committer: Committer;
      readonly fence: EpochFence;
      readonly onFatal: (error: Error) => void;
    },
  ) {
    this.storage = storage;
    this.host = host;
    this.file = options.mark.file;
    this.written = options.mark.record;
    this.committer = options.committer;
    this.fence = options.fence;
    this.onFatal = options.onFatal;
  }

  /** A batch is durable and acknowledged. One timer serves all batches until it fires. */
  schedule(): void {
    if (this.timer === undefined) this.timer = this.host.setTimer(DELAY_MS, this.onTimer);
  }

  /** Writes now, if no write is under way. */
  writeNow(): void {
    this.host.clearTimer(this.timer);
    this.timer = undefined;
    this.write();
  }

  /** Starts no more writes. */
  stop(): void {
    this.isStopped = true;
    this.host.clearTimer(this.timer);
  }

  /** The last write, after the one under way. */
  *close(): Coroutine<void> {
    this.stop();
    yield* this.waitForWrite();
    if (this.isDue) yield* this.writeOnce();
  }

  /** For a log that failed. */
  *waitForWrite(): Coroutine<void> {
    if (!this.isWriting) return;
    yield* call<void>((done) => {
      this.idleCallback = () => done(null);
    });
  }

  private get isDue(): boolean {
    return this.committer.durable.batch > this.written.batch;
  }

  private readonly onTimer = (): void => {
    this.timer = undefined;
    this.write();
  };

  private write(): void {
    if (this.isStopped || this.isWriting || !this.isDue) return;
    this.isWriting = true;
    runCoroutine(this.writeOnce(), (error) => {
      this.isWriting = false;
      const waiting = this.idleCallback;
      this.idleCallback = undefined;
      if (error !== null && isFatal(error)) this.onFailed(error);
      else if (this.isDue && !this.isStopped) this.schedule();
      waiting?.();
    });
  }

  private onFailed(error: Error): void {
    if (!this.isStopped) this.onFatal(new WalIoError('writing MARK', error));
  }

  private *writeOnce(): Coroutine<void> {
    // The mark of a later opening must not be replaced by an older one.
    this.fence.assert();
    const { batch, lsn } = this.committer.durable;
    const record = { number: this.written.number + 1, batch, lsn };
    yield* writeDurably(this.storage, this.file, encodeMark(record), copyOffset(record.number));
    this.written = record;
  }
}
