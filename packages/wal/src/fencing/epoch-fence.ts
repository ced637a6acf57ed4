// Shows whether this opening still owns the directory. Asked after every durable batch, before it is
// acknowledged, and before every rename and removal (adr/0211).

import { decodeEpoch, type EpochRecord } from '../format/epoch-record.js';
import { PAIR_BYTES, PAIR_OFFSET } from '../format/paired-record.js';
import type { Coroutine } from '../storage/coroutine.js';
import { createFile, moveIntoPlace } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalFencedError, WalIoError } from '../wal-error.js';

export class EpochFence {
  readonly epoch: number;
  readonly file: StorageFile;
  private readonly storage: Storage;
  private readonly own: EpochRecord;
  /** Both copies as they were after the claim, so that the usual answer needs no decoding. */
  private readonly claimed: Buffer;
  private readonly found = Buffer.alloc(PAIR_BYTES);

  constructor(storage: Storage, file: StorageFile, own: EpochRecord, claimed: Buffer) {
    this.storage = storage;
    this.file = file;
    this.epoch = own.epoch;
    this.own = own;
    this.claimed = claimed;
  }

  /** The error with which the log must end, if another process has opened the directory. */
  problem(): WalFencedError | WalIoError | undefined {
    let count: number;
    try {
      count = this.storage.readNow(this.file, this.found, PAIR_OFFSET);
    } catch (error) {
      return new WalIoError('reading EPOCH', error);
    }
    if (count === PAIR_BYTES && this.found.equals(this.claimed)) return undefined;
    // A claim that is being written is not valid yet, and its process has not begun to read the log.
    const newest = decodeEpoch(this.found.subarray(0, count));
    if (newest?.nonce === this.own.nonce) return undefined;
    return new WalFencedError(this.own.epoch, newest?.epoch);
  }

  assert(): void {
    const problem = this.problem();
    if (problem !== undefined) throw problem;
  }

  /** A name that no other opening uses, for the content of this file until it is complete. */
  tempNameOf(name: string): string {
    return `${name}.${this.own.nonce.slice(0, 12)}.tmp`;
  }

  /** Replaces a file atomically: after a crash it is the old one or the new one. */
  *replaceFile(name: string, bytes: Uint8Array): Coroutine<void> {
    const tempName = this.tempNameOf(name);
    yield* createFile(this.storage, tempName, bytes);
    this.assert();
    yield* moveIntoPlace(this.storage, tempName, name);
  }
}
