// Which blobs this process has reason to keep: those it stored, and those that records it knows of refer to.

import type { BlobRef } from '../format/record.js';

interface Use {
  /** Stored, and the record that is to refer to it has not come yet. */
  awaited: number;
  lastLsn: number;
}

export class BlobUse {
  private readonly uses = new Map<string, Use>();

  stored(ref: BlobRef): void {
    this.of(ref).awaited += 1;
  }

  referred(ref: BlobRef, lsn: number): void {
    const use = this.of(ref);
    use.lastLsn = lsn;
    use.awaited = Math.max(0, use.awaited - 1);
  }

  /** No record will refer to what was stored. Others may have stored the same. */
  released(ref: BlobRef): void {
    const use = this.of(ref);
    use.awaited = Math.max(0, use.awaited - 1);
  }

  /** True if a record behind `lsn`, or one still to come, may need it. */
  isNeededAfter(sha256: string, lsn: number): boolean {
    const use = this.uses.get(sha256);
    return use !== undefined && (use.awaited > 0 || use.lastLsn > lsn);
  }

  /** Records up to `lsn` are in a snapshot, which lists its blobs itself. */
  forgetUpTo(lsn: number): void {
    for (const [sha256, { awaited, lastLsn }] of this.uses) {
      if (awaited === 0 && lastLsn <= lsn) this.uses.delete(sha256);
    }
  }

  private of(ref: BlobRef): Use {
    let use = this.uses.get(ref.sha256);
    if (use === undefined) {
      use = { awaited: 0, lastLsn: 0 };
      this.uses.set(ref.sha256, use);
    }
    return use;
  }
}
