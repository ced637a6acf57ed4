// Which blobs this process has reason to keep: those it stored, and those that records it knows of refer to.

import type { BlobRef } from '../format/record.js';

const NOT_YET_APPENDED = Number.POSITIVE_INFINITY;

export class BlobUse {
  readonly #lastLsn = new Map<string, number>();

  stored(ref: BlobRef): void {
    this.#lastLsn.set(ref.sha256, NOT_YET_APPENDED);
  }

  referred(ref: BlobRef, lsn: number): void {
    this.#lastLsn.set(ref.sha256, lsn);
  }

  /** True if a record behind `lsn`, or one still to come, may need it. */
  isNeededAfter(sha256: string, lsn: number): boolean {
    const last = this.#lastLsn.get(sha256);
    return last !== undefined && last > lsn;
  }

  /** Records up to `lsn` are in a snapshot, which lists its blobs itself. */
  forgetUpTo(lsn: number): void {
    for (const [sha256, last] of this.#lastLsn) if (last <= lsn) this.#lastLsn.delete(sha256);
  }
}
