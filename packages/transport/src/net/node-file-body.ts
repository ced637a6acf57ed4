import { closeSync, fstatSync, openSync, read } from 'node:fs';
import type { BodySource } from '../connection/body-source.js';

const BLOCK_BYTES = 1024 * 1024;
const SPARE_BLOCKS_MAX = 16;
/** Fresh memory costs a page fault for every page of it, and makes V8 collect its whole heap: blocks are used again. */
const spare: Buffer[] = [];

/** The bytes of a file, a chunk at a time as the peer takes them. Throws what opening throws. */
export function bodyFromFile(path: string): BodySource {
  return new FileBody(openSync(path, 'r'));
}

interface Block {
  readonly memory: Buffer;
  readonly bytes: number;
  /** How much of it the transport is done with. */
  released: number;
}

type Done = (error: Error | null, chunk: Uint8Array | null) => void;

class FileBody implements BodySource {
  readonly length: number;
  private readonly file: number;
  /** Blocks not released yet, in order: the last one is being handed out. */
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
      // A read under way owned the descriptor.
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

  /** Chunks come back in the order they were given. */
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
