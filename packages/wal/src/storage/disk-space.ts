// Watches free space and decides when only essential appends are accepted.

import type { WalEvent } from '../log/wal-event.js';
import { errnoOf, WalDiskLowError } from '../wal-error.js';
import { type Coroutine, call } from './coroutine.js';
import type { Storage } from './storage.js';

/** Free space, as a multiple of `freeBytesSoft`, at which the shortage is over: a margin against flapping. */
const CLEAR_AT = 1.5;

export interface DiskSpaceOptions {
  readonly storage: Storage;
  readonly segmentBytes: number;
  readonly freeBytesSoft: number;
  readonly freeBytesHard: number;
  readonly onEvent: (event: WalEvent) => void;
}

export class DiskSpace {
  private readonly options: DiskSpaceOptions;
  private lowError: WalDiskLowError | undefined;
  /** As of the last look; undefined: not looked at, or the storage does not know. */
  freeBytes: number | undefined = undefined;

  constructor(options: DiskSpaceOptions) {
    this.options = options;
  }

  /** Why appends that are not essential are refused; undefined if they are not. */
  get low(): WalDiskLowError | undefined {
    return this.lowError;
  }

  /** Throws WalDiskLowError if taking `wantedBytes` would go below the hard limit. */
  *check(wantedBytes: number): Coroutine<void> {
    const { storage, freeBytesSoft, freeBytesHard } = this.options;
    if (freeBytesSoft === 0) return;
    const free = yield* call<number | undefined>((done) => storage.freeBytes(done));
    this.freeBytes = free;
    if (free === undefined) return;
    if (wantedBytes > 0 && free - wantedBytes < freeBytesHard)
      throw new WalDiskLowError(free, wantedBytes + freeBytesHard);
    if (free < freeBytesSoft) this.mark(new WalDiskLowError(free, freeBytesSoft), free, undefined);
    else if (free >= freeBytesSoft * CLEAR_AT) this.clear();
  }

  /** A segment was prepared. Without limits this is how a shortage ends. */
  segmentPrepared(): void {
    if (this.options.freeBytesSoft === 0) this.clear();
  }

  /** A call failed for lack of space or of file handles. */
  reportShortage(error: Error): void {
    const errno = errnoOf(error);
    const low =
      error instanceof WalDiskLowError
        ? error
        : new WalDiskLowError(undefined, this.options.segmentBytes, errno);
    this.mark(low, undefined, errno);
  }

  private mark(low: WalDiskLowError, freeBytes: number | undefined, errno: string | undefined): void {
    const isNew = this.lowError === undefined;
    this.lowError = low;
    if (isNew) this.options.onEvent({ kind: 'disk-low', freeBytes, errno });
  }

  private clear(): void {
    if (this.lowError === undefined) return;
    this.lowError = undefined;
    this.options.onEvent({ kind: 'disk-ok' });
  }
}
