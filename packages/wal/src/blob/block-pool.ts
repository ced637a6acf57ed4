export const BLOCK_BYTES = 1024 * 1024;
const FREE_MAX = 16;

/** Memory for blobs on their way. Fresh memory costs a page fault for every page of it, and makes V8 collect its whole heap. */
export class BlockPool {
  private readonly free: Buffer[] = [];

  acquire(): Buffer {
    return this.free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Only what nobody reads or writes any more. */
  release(block: Buffer): void {
    if (this.free.length < FREE_MAX) this.free.push(block);
  }
}
