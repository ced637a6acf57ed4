import { closeSync, fstatSync, openSync, read } from 'node:fs';
import type { BodySource } from '../body/body-source.js';

const BLOCK_BYTES = 1024 * 1024;
const SPARE_BLOCKS_MAX = 16;
/** New memory costs page faults and full collections of the heap: blocks are reused. */
const spare: Buffer[] = [];

/** The bytes of a file, read as the peer grants credit. Throws the errors of `openSync`. */
export function bodyFromFile(path: string): BodySource {
  return new FileBody(openSync(path, 'r'));
}

interface Block {
  readonly memory: Buffer;
  readonly bytes: number;
  /** Bytes of it that have left the process. */
  released: number;
}

type Done = (error: Error | null, chunk: Uint8Array | null) => void;

class FileBody implements BodySource {
  readonly length: number;
  private readonly file: number;
  /** Blocks not released yet, in order; chunks are cut from the last one. */
  private readonly blocks: Block[] = [];
  private position = 0;
  private isReading = false;
  private isClosed = false;

  constructor(file: number) {
    this.file = file;
    this.length = fstatSync(file).size;
  }

  read(bytesMax: number, done: Done): void {
    const block = this.blocks.at(-1);
    if (block !== undefined && this.position < block.bytes) return done(null, this.next(block, bytesMax));
    const memory = spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.isReading = true;
    read(this.file, memory, 0, BLOCK_BYTES, null, (error, bytes) => {
      this.isReading = false;
      // A pending read owned the descriptor.
      if (this.isClosed) closeSync(this.file);
      if (error !== null || bytes === 0 || this.isClosed) {
        reuse(memory);
        if (!this.isClosed) done(error, null);
        return;
      }
      const fresh = { memory, bytes, released: 0 };
      this.blocks.push(fresh);
      this.position = 0;
      done(null, this.next(fresh, bytesMax));
    });
  }

  /** Chunks are released in the order of their reads. */
  release(chunk: Uint8Array): void {
    const first = this.blocks[0];
    if (first === undefined) return;
    first.released += chunk.length;
    if (first.released < first.bytes) return;
    this.blocks.shift();
    reuse(first.memory);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (!this.isReading) closeSync(this.file);
  }

  private next({ memory, bytes }: Block, bytesMax: number): Uint8Array {
    const from = this.position;
    this.position = Math.min(bytes, from + bytesMax);
    return memory.subarray(from, this.position);
  }
}

function reuse(memory: Buffer): void {
  if (spare.length < SPARE_BLOCKS_MAX) spare.push(memory);
}
