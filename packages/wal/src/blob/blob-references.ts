// Which blobs this process has reason to keep: those it stored, and those that records it knows of refer to.

import type { BlobRef } from '../format/record.js';

interface BlobUsage {
  /** Stored, and the record that is to refer to it has not come yet. */
  pending: number;
  lastLsn: number;
}

export class BlobReferences {
  private readonly usages = new Map<string, BlobUsage>();

  addPending(ref: BlobRef): void {
    this.usageOf(ref).pending += 1;
  }

  addRecord(ref: BlobRef, lsn: number): void {
    const use = this.usageOf(ref);
    use.lastLsn = lsn;
    use.pending = Math.max(0, use.pending - 1);
  }

  /** No record will refer to what was stored. Others may have stored the same. */
  releasePending(ref: BlobRef): void {
    const use = this.usageOf(ref);
    use.pending = Math.max(0, use.pending - 1);
  }

  /** True if a record behind `lsn`, or one still to come, may need it. */
  isNeededAfter(sha256: string, lsn: number): boolean {
    const use = this.usages.get(sha256);
    return use !== undefined && (use.pending > 0 || use.lastLsn > lsn);
  }

  /** Records up to `lsn` are in a snapshot, which lists its blobs itself. */
  pruneUpTo(lsn: number): void {
    for (const [sha256, { pending, lastLsn }] of this.usages) {
      if (pending === 0 && lastLsn <= lsn) this.usages.delete(sha256);
    }
  }

  private usageOf(ref: BlobRef): BlobUsage {
    let use = this.usages.get(ref.sha256);
    if (use === undefined) {
      use = { pending: 0, lastLsn: 0 };
      this.usages.set(ref.sha256, use);
    }
    return use;
  }
}
