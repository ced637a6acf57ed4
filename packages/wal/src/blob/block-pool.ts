export const BLOCK_BYTES = 1024 * 1024;
const SPARE_MAX = 16;

/** Memory for blobs on their way. Fresh memory costs a page fault for every page of it, and makes V8 collect its whole heap. */
export class BlockPool {
  private readonly spare: Buffer[] = [];

  take(): Buffer {
    return this.spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Only what nobody reads or writes any more. */
  give(block: Buffer): void {
    if (this.spare.length < SPARE_MAX) this.spare.push(block);
  }
}
