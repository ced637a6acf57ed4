// The blobs that must be kept, for records to come and for records after the snapshot.

import type { BlobRef } from './blob-ref.js';

interface BlobUsage {
  /** How often it was stored without a record that refers to it yet. */
  pending: number;
  lastLsn: number;
}

export class BlobReferences {
  private readonly usages = new Map<string, BlobUsage>();

  addPending(ref: BlobRef): void {
    this.usageOf(ref).pending += 1;
  }

  addRecord(ref: BlobRef, lsn: number): void {
    const usage = this.usageOf(ref);
    usage.lastLsn = lsn;
    usage.pending = Math.max(0, usage.pending - 1);
  }

  /** One store of the blob gets no record. Other stores of the same content remain. */
  releasePending(ref: BlobRef): void {
    const usage = this.usageOf(ref);
    usage.pending = Math.max(0, usage.pending - 1);
  }

  /** True if a record after `lsn` refers to it or may do so. */
  isNeededAfter(sha256: string, lsn: number): boolean {
    const usage = this.usages.get(sha256);
    return usage !== undefined && (usage.pending > 0 || usage.lastLsn > lsn);
  }

  /** Drops entries up to `lsn`: the snapshot lists their blobs itself. */
  pruneUpTo(lsn: number): void {
    for (const [sha256, { pending, lastLsn }] of this.usages) {
      if (pending === 0 && lastLsn <= lsn) this.usages.delete(sha256);
    }
  }

  private usageOf(ref: BlobRef): BlobUsage {
    let usage = this.usages.get(ref.sha256);
    if (usage === undefined) {
      usage = { pending: 0, lastLsn: 0 };
      this.usages.set(ref.sha256, usage);
    }
    return usage;
  }
}
