// Blobs just written are mostly read a moment later. What of them is still in memory is what was hashed: it needs neither
// to be read nor to be checked again.

import type { BlobRef } from '../format/record.js';
import type { BlockPool } from './block-pool.js';

/** For all blobs together, those being written and those being read included. */
const BLOCKS_MAX = 64;

interface CachedBlob {
  readonly ref: BlobRef;
  readonly blocks: Buffer[];
}

export class BlobCache {
  private readonly pool: BlockPool;
  /** Oldest first. */
  private readonly blobs: CachedBlob[] = [];
  private reservedBlocks = 0;

  constructor(pool: BlockPool) {
    this.pool = pool;
  }

  /** Room for one block more; the oldest blobs make way. False: what has been kept of this one must go. */
  reserveBlock(): boolean {
    while (this.reservedBlocks >= BLOCKS_MAX) {
      const oldest = this.blobs.shift();
      if (oldest === undefined) return false;
      this.recycle(oldest.blocks);
    }
    this.reservedBlocks += 1;
    return true;
  }

  /** Its blocks were admitted, all of them. */
  add(ref: BlobRef, blocks: Buffer[]): void {
    this.blobs.push({ ref, blocks });
  }

  /** All blocks of it for one reader, who counts them down; the next reader gets none. */
  take({ sha256, bytes }: BlobRef): Buffer[] {
    const at = this.blobs.findIndex(({ ref }) => ref.sha256 === sha256 && ref.bytes === bytes);
    return (at < 0 ? undefined : this.blobs.splice(at, 1)[0]?.blocks) ?? [];
  }

  /** Blocks that were admitted and that nobody has begun to read. */
  recycle(blocks: readonly Buffer[]): void {
    this.unreserve(blocks.length);
    for (const block of blocks) this.pool.release(block);
  }

  /** So many admitted blocks are gone. */
  unreserve(blocks: number): void {
    this.reservedBlocks -= blocks;
  }
}
