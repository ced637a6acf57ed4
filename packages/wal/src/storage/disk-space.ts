// Watches free space, and says when the log must stop taking what is not essential. Running out is a state, not an end.

import type { LogSettings } from '../log/options.js';
import { errnoOf, WalDiskLowError } from '../wal-error.js';
import { type Coroutine, call } from './coroutine.js';

/** Off the hot path these mean "not now"; the segment being written was made before and still takes what it holds. */
const RESOURCE_ERRNOS = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);
const CLEAR_AT = 1.5;

export class DiskSpace {
  private readonly settings: LogSettings;
  private lowError: WalDiskLowError | undefined;

  constructor(settings: LogSettings) {
    this.settings = settings;
  }

  /** Why appends that are not essential are refused; undefined if they are not. */
  get low(): WalDiskLowError | undefined {
    return this.lowError;
  }

  static isShortage(error: Error): boolean {
    const errno = errnoOf(error);
    return error instanceof WalDiskLowError || (errno !== undefined && RESOURCE_ERRNOS.has(errno));
  }

  /** Throws WalDiskLowError if not even `wantedBytes` may be taken. */
  *check(wantedBytes: number): Coroutine<void> {
    const { storage, freeBytesSoft, freeBytesHard } = this.settings;
    if (freeBytesSoft === 0) return;
    const free = yield* call<number | undefined>((done) => storage.freeBytes(done));
    if (free === undefined) return;
    if (wantedBytes > 0 && free - wantedBytes < freeBytesHard)
      throw new WalDiskLowError(free, wantedBytes + freeBytesHard);
    if (free < freeBytesSoft) this.mark(new WalDiskLowError(free, freeBytesSoft), free, undefined);
    else if (free >= freeBytesSoft * CLEAR_AT) this.clear();
  }

  /** A segment could be prepared. Without watermarks that is how a shortage ends. */
  segmentPrepared(): void {
    if (this.settings.freeBytesSoft === 0) this.clear();
  }

  /** A call failed for want of space or files. */
  reportShortage(error: Error): void {
    const low =
      error instanceof WalDiskLowError ? error : new WalDiskLowError(undefined, this.settings.segmentBytes);
    this.mark(low, undefined, errnoOf(error));
  }

  private mark(low: WalDiskLowError, freeBytes: number | undefined, errno: string | undefined): void {
    if (this.lowError === undefined) this.settings.onEvent({ kind: 'disk-low', freeBytes, errno });
    this.lowError = low;
  }

  private clear(): void {
    if (this.lowError === undefined) return;
    this.lowError = undefined;
    this.settings.onEvent({ kind: 'disk-ok' });
  }
}
