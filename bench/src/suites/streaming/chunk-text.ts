// The chunks of every row and of every system. Worker processes of peers load this file as well, so it imports no
// package of Troupe.

/** Chunks number `first` up to `first + count`: every one has its own number and its own text. */
export interface ChunkRange {
  readonly first: number;
  readonly count: number;
  /** Of each chunk as JSON. */
  readonly bytes: number;
}

/** One byte each, none of them escaped in JSON. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,-';
/** A prime, so that texts of consecutive numbers are far apart and recur late. */
const POOL_OFFSETS = 262_139;
const OFFSET_STEP = 40_503;
const NUMBER_FIRST = 1_000_000_000;
const QUOTES = 2;

/** Makes the text of a chunk of its number, the same in every process. */
export class ChunkTexts {
  private readonly textLength: number;
  private readonly pool: string;

  constructor(bytes: number) {
    this.textLength = bytes - QUOTES - String(NUMBER_FIRST).length;
    if (this.textLength < 1) throw new RangeError(`a chunk of ${bytes} bytes has no room for its number`);
    this.pool = poolOf(this.textLength + POOL_OFFSETS);
  }

  textOf(number: number): string {
    const offset = (number * OFFSET_STEP) % POOL_OFFSETS;
    return `${NUMBER_FIRST + number}${this.pool.slice(offset, offset + this.textLength)}`;
  }
}

function poolOf(length: number): string {
  const bytes = Buffer.allocUnsafe(length);
  let state = 1;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = ALPHABET.charCodeAt((state >>> 16) % ALPHABET.length);
  }
  return bytes.toString('latin1');
}

/** Counts the chunks that a reader got in their order and with their content. */
export class ChunkCheck {
  correct = 0;
  private next: number;
  private readonly texts: ChunkTexts;

  constructor({ first, bytes }: ChunkRange, texts = new ChunkTexts(bytes)) {
    this.next = first;
    this.texts = texts;
  }

  take(chunk: string): void {
    if (chunk === this.texts.textOf(this.next)) this.correct += 1;
    this.next += 1;
  }
}
