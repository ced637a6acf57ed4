/** A ring of up to one block is a circular array that doubles. */
const BLOCK_BITS_MAX = 10;

type Block<T> = (T | undefined)[];

/**
 * A double-ended queue in blocks, which grows by one block: a ring of a million values is never copied. A
 * removed value is cleared, so that it can be collected.
 */
export class Ring<T> {
  /** A circular list, a power of two long. A block is made when the ring first reaches it. */
  private blocks: (Block<T> | undefined)[] = [emptyBlock(8)];
  private bits = 3;
  private head = 0;
  size = 0;

  push(value: T): void {
    if (this.size === this.capacity) this.grow();
    this.set(this.head + this.size, value);
    this.size += 1;
  }

  unshift(value: T): void {
    if (this.size === this.capacity) this.grow();
    this.head = (this.head - 1) & (this.capacity - 1);
    this.set(this.head, value);
    this.size += 1;
  }

  peek(): T | undefined {
    return this.size === 0 ? undefined : this.get(this.head);
  }

  at(index: number): T | undefined {
    return index < this.size ? this.get(this.head + index) : undefined;
  }

  put(index: number, value: T): void {
    if (index < this.size) this.set(this.head + index, value);
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const value = this.get(this.head);
    this.set(this.head, undefined);
    this.head = (this.head + 1) & (this.capacity - 1);
    this.size -= 1;
    return value;
  }

  private get capacity(): number {
    return this.blocks.length << this.bits;
  }

  private get(position: number): T | undefined {
    const { bits, blocks } = this;
    return blocks[(position >> bits) & (blocks.length - 1)]?.[position & ((1 << bits) - 1)];
  }

  private set(position: number, value: T | undefined): void {
    const { bits, blocks } = this;
    const at = (position >> bits) & (blocks.length - 1);
    let block = blocks[at];
    if (block === undefined) {
      block = emptyBlock<T>(1 << bits);
      blocks[at] = block;
    }
    block[position & ((1 << bits) - 1)] = value;
  }

  /** The ring is full, so every block is there. */
  private grow(): void {
    const { blocks, bits, head } = this;
    const blockSize = 1 << bits;
    const first = head >> bits;
    const offset = head & (blockSize - 1);
    if (bits < BLOCK_BITS_MAX) {
      const old = blocks[0] as Block<T>;
      const block = emptyBlock<T>(2 * blockSize);
      for (let i = 0; i < blockSize; i += 1) block[i] = old[(offset + i) & (blockSize - 1)];
      this.blocks = [block];
      this.bits = bits + 1;
      this.head = 0;
      return;
    }
    // The block of the head comes first; the values before the head in it are the last of the ring.
    const grown: (Block<T> | undefined)[] = [...blocks.slice(first), ...blocks.slice(0, first)];
    const last = emptyBlock<T>(blockSize);
    const headBlock = grown[0] as Block<T>;
    for (let i = 0; i < offset; i += 1) {
      last[i] = headBlock[i];
      headBlock[i] = undefined;
    }
    grown.push(last);
    while (grown.length < 2 * blocks.length) grown.push(undefined);
    this.blocks = grown;
    this.head = offset;
  }
}

function emptyBlock<T>(size: number): Block<T> {
  return new Array<T | undefined>(size).fill(undefined);
}
