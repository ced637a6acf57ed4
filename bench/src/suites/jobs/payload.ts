// The work of a job in every row and on every system: a payload of its own, and a result that depends on it.
// Workers of peers load this file as well: it imports nothing of Troupe.
import { SeededRandom } from '@troupe/core/testing';

/** As compact JSON it has exactly the number of bytes that its source was made for. */
export interface Payload {
  readonly id: number;
  readonly text: string;
}

export interface Result {
  readonly id: number;
  readonly sum: number;
}

/** Ids have ten digits, so that the text has one length, and fit a small integer. */
const ID_FIRST = 1_000_000_000;
const ID_DIGITS = 10;
const HEAD_BYTES = '{"id":'.length;
const FRAME_BYTES = HEAD_BYTES + ID_DIGITS + ',"text":""}'.length;

/** None of them is escaped in JSON, and each is one byte. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,-';
const OFFSETS = 2 ** 18;
/** Odd: the offsets of consecutive jobs are far apart, and all of them are used before one recurs. */
const OFFSET_STEP = 40_503;
const SAMPLED = 8;

/** Where the id stands in the JSON of a payload. */
export const ID_AT = HEAD_BYTES;

/** Payloads of one size, no two of them alike: texts are cut from one pool of random characters. */
export class Payloads {
  private readonly textLength: number;
  private readonly pool: string;
  private made = 0;

  constructor(bytes: number, seed = 1) {
    this.textLength = bytes - FRAME_BYTES;
    if (this.textLength < 1)
      throw new RangeError(`a payload has more than ${FRAME_BYTES} bytes, got ${bytes}`);
    this.pool = randomText(this.textLength + OFFSETS, seed);
  }

  next(): Payload {
    const offset = (this.made * OFFSET_STEP) % OFFSETS;
    const id = ID_FIRST + this.made;
    this.made += 1;
    return { id, text: this.pool.slice(offset, offset + this.textLength) };
  }
}

function randomText(length: number, seed: number): string {
  const random = new SeededRandom(seed);
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at += 1) bytes[at] = ALPHABET.charCodeAt(random.below(ALPHABET.length));
  return bytes.toString('latin1');
}

/** The handler of every worker. */
export function resultOf({ id, text }: Payload): Result {
  return { id, sum: sumOf(id, text) };
}

/** A hash of the id and of characters from all over the text. */
function sumOf(id: number, text: string): number {
  const step = (text.length - 1) / (SAMPLED - 1);
  let sum = id;
  for (let i = 0; i < SAMPLED; i += 1)
    sum = Math.imul(sum ^ text.charCodeAt(Math.trunc(i * step)), 0x01000193);
  return sum >>> 0;
}

/** Whether a system has brought back the result of this very payload. */
export function isResultOf(payload: Payload, result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false;
  const { id, sum } = result as Partial<Result>;
  return id === payload.id && sum === sumOf(payload.id, payload.text);
}
