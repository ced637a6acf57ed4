// Blobs kept in memory after they were written, since most are read soon. Their bytes were hashed when
// written, so they need no check.

import type { BlobRef } from './blob-ref.js';
import type { BlockPool } from './block-pool.js';

/** For all blobs together, including those being written and read. */
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

  /** Reserves one block and evicts the oldest blobs for it. False: the blob is too large for the cache. */
  reserveBlock(): boolean {
    while (this.reservedBlocks >= BLOCKS_MAX) {
      const oldest = this.blobs.shift();
      if (oldest === undefined) return false;
      this.recycle(oldest.blocks);
    }
    this.reservedBlocks += 1;
    return true;
  }

  /** Adds a blob whose blocks were all reserved. */
  add(ref: BlobRef, blocks: Buffer[]): void {
    this.blobs.push({ ref, blocks });
  }

  /** The blocks of a blob for one reader, which unreserves them; the next reader gets none. */
  take({ sha256, bytes }: BlobRef): Buffer[] {
    const at = this.blobs.findIndex(({ ref }) => ref.sha256 === sha256 && ref.bytes === bytes);
    return (at < 0 ? undefined : this.blobs.splice(at, 1)[0]?.blocks) ?? [];
  }

  /** Returns reserved blocks that no reader uses to the pool. */
  recycle(blocks: readonly Buffer[]): void {
    this.unreserve(blocks.length);
    for (const block of blocks) this.pool.release(block);
  }

  /** Reduces the count by so many blocks. */
  unreserve(blocks: number): void {
    this.reservedBlocks -= blocks;
  }
}
