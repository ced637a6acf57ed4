export const BLOCK_BYTES = 1024 * 1024;
const FREE_MAX = 16;

/** Reusable memory for blobs: new memory costs page faults and full garbage collections. */
export class BlockPool {
  private readonly free: Buffer[] = [];

  acquire(): Buffer {
    return this.free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Only for blocks that are neither read nor written any more. */
  release(block: Buffer): void {
    if (this.free.length < FREE_MAX) this.free.push(block);
  }
}
