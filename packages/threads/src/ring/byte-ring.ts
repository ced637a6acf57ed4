// Hot path: one record per message between threads.

/** Words of the header, each on a cache line of its own. */
const HEAD = 0;
const TAIL = 16;
const WAITS = 32;
const SETTLED = 48;
const NUMBER = 49;
const HEADER_WORDS = 64;
const HEADER_BYTES = 4 * HEADER_WORDS;

/** In place of a length: the rest of the memory up to its end is not used. */
const WRAP = -1;
/** Every record begins at a multiple of this, with its length in the first word. */
const ALIGN = 4;
const LENGTH_BYTES = 4;

/** The number of the ring that was made last: one thread makes those of all. */
let rings = 0;

/** Memory of a ring of so many bytes, a power of two. */
export function ringMemory(bytes: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(HEADER_BYTES + bytes);
  rings += 1;
  headerOf(memory)[NUMBER] = rings;
  return memory;
}

function headerOf(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, 0, HEADER_WORDS);
}

export function ringNumber(memory: SharedArrayBuffer): number {
  return headerOf(memory)[NUMBER] as number;
}

export function ringPositions(memory: SharedArrayBuffer): { readonly head: number; readonly tail: number } {
  const header = headerOf(memory);
  return { head: Atomics.load(header, HEAD), tail: Atomics.load(header, TAIL) };
}

/**
 * The thread that is left has accounted for the records of a ring whose other thread has ended: as if they
 * had been read, by one atomic store.
 */
export function settleRing(memory: SharedArrayBuffer): void {
  const header = headerOf(memory);
  Atomics.store(header, HEAD, Atomics.load(header, TAIL));
  Atomics.store(header, SETTLED, 1);
}

export function isRingSettled(memory: SharedArrayBuffer): boolean {
  return Atomics.load(headerOf(memory), SETTLED) === 1;
}

/**
 * Records of bytes from one writing thread to one reading thread. The writer counts the bytes written (tail),
 * the reader those read (head); both only grow, modulo 2³². A record counts when the tail behind it has been
 * stored, by one atomic store: a writer may end at any instruction, and no reader sees half a record.
 */
abstract class ByteRing {
  readonly capacity: number;
  /** Of this ring alone in the process. */
  readonly number: number;
  /** The data; positions in it are those of `bytes`, `words` and `view`. */
  readonly bytes: Buffer;
  readonly words: Int32Array;
  readonly view: DataView;
  protected readonly header: Int32Array;
  protected readonly mask: number;

  constructor(memory: SharedArrayBuffer) {
    this.capacity = memory.byteLength - HEADER_BYTES;
    this.mask = this.capacity - 1;
    this.header = headerOf(memory);
    this.number = this.header[NUMBER] as number;
    this.bytes = Buffer.from(memory, HEADER_BYTES, this.capacity);
    this.words = new Int32Array(memory, HEADER_BYTES, this.capacity >> 2);
    this.view = new DataView(memory, HEADER_BYTES, this.capacity);
  }
}

/** The writing end. A record is written between `begin` and `commit`, and published with others. */
export class RingWriter extends ByteRing {
  /** The first byte of the record being written, and the end of the room for it. */
  at = 0;
  end = 0;
  private tail: number;
  private published: number;
  private head: number;
  /** The end of the room that is known to be free without a break, counted as the tail is. */
  private limit: number;

  constructor(memory: SharedArrayBuffer) {
    super(memory);
    this.tail = Atomics.load(this.header, TAIL);
    this.limit = this.tail;
    this.published = this.tail;
    this.head = Atomics.load(this.header, HEAD);
  }

  /** Opens a record of at least so many bytes; false when there is no room for that at present. */
  begin(least: number): boolean {
    const need = LENGTH_BYTES + least;
    // Room that was found for an earlier record is still there behind it.
    if (((this.limit - this.tail) | 0) < need && !this.findRoom(need)) return false;
    const position = this.tail & this.mask;
    this.at = position + LENGTH_BYTES;
    this.end = position + ((this.limit - this.tail) | 0);
    return true;
  }

  private findRoom(need: number): boolean {
    const position = this.tail & this.mask;
    const rest = this.capacity - position;
    let free = this.refreshed();
    if (rest >= need) {
      if (free < need) return false;
      this.limit = (this.tail + Math.min(free, rest)) | 0;
      return true;
    }
    if (free < rest + need) return false;
    this.words[position >> 2] = WRAP;
    this.tail = (this.tail + rest) | 0;
    free -= rest;
    this.limit = (this.tail + free) | 0;
    return true;
  }

  private refreshed(): number {
    this.head = Atomics.load(this.header, HEAD);
    return this.capacity - ((this.tail - this.head) | 0);
  }

  /** Closes the record, which ends before `end`. */
  commit(end: number): void {
    const position = this.tail & this.mask;
    const length = end - position - LENGTH_BYTES;
    this.words[position >> 2] = length;
    this.tail = (this.tail + sizeOf(length)) | 0;
  }

  /** The end of the closed records. */
  get writtenTo(): number {
    return this.tail;
  }

  /** Makes all closed records visible; false when there are none. */
  publish(): boolean {
    if (this.tail === this.published) return false;
    this.published = this.tail;
    Atomics.store(this.header, TAIL, this.tail);
    return true;
  }

  /** The reader is to wake the writer when half of the ring is free. */
  waitForRoom(): void {
    Atomics.store(this.header, WAITS, 1);
  }

  /** A writer that goes on for every record that was read would be woken for each. */
  get isHalfFree(): boolean {
    return this.refreshed() >= this.capacity >> 1;
  }
}

/** The reading end. */
export class RingReader extends ByteRing {
  /** The record that `next` has found. */
  at = 0;
  end = 0;
  private head: number;
  private tail: number;

  constructor(memory: SharedArrayBuffer) {
    super(memory);
    this.head = Atomics.load(this.header, HEAD);
    this.tail = this.head;
  }

  get isEmpty(): boolean {
    return Atomics.load(this.header, TAIL) === this.head;
  }

  /** Looks for records once more; false when there are none. */
  refresh(): boolean {
    this.tail = Atomics.load(this.header, TAIL);
    return this.tail !== this.head;
  }

  /** The next of the records that the last `refresh` has found; false after the last of them. */
  next(): boolean {
    if (this.head === this.tail) return false;
    let position = this.head & this.mask;
    let length = this.words[position >> 2] as number;
    if (length === WRAP) {
      this.head = (this.head + this.capacity - position) | 0;
      if (this.head === this.tail) return false;
      position = 0;
      length = this.words[0] as number;
    }
    this.at = position + LENGTH_BYTES;
    this.end = this.at + length;
    this.head = (this.head + sizeOf(length)) | 0;
    return true;
  }

  /** The end of what was read, whose room may not be given back yet. */
  get readTo(): number {
    return this.head;
  }

  /** Gives the room of everything read back; true when the writer waits and half of the ring is free. */
  release(): boolean {
    const { header } = this;
    Atomics.store(header, HEAD, this.head);
    if (Atomics.load(header, WAITS) === 0) return false;
    if (((Atomics.load(header, TAIL) - this.head) | 0) > this.capacity >> 1) return false;
    return Atomics.exchange(header, WAITS, 0) === 1;
  }
}

function sizeOf(length: number): number {
  return (LENGTH_BYTES + length + ALIGN - 1) & ~(ALIGN - 1);
}
