import { SeededRandom } from '@troupe/core/testing';
import type { Payload } from './payload.js';

/** Ids have ten digits, so that all texts have the same length, and fit a small integer. */
const ID_FIRST = 1_000_000_000;
const ID_DIGITS = 10;
/** The position of the id in the JSON of a payload. */
export const ID_OFFSET = '{"id":'.length;
const JSON_BYTES_WITHOUT_TEXT = ID_OFFSET + ID_DIGITS + ',"text":""}'.length;

/** One byte each, none of them escaped in JSON. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,-';
const POOL_OFFSETS = 2 ** 18;
/** Odd: offsets of consecutive jobs are far apart, and every offset is used before one recurs. */
const OFFSET_STEP = 40_503;

/** Unique payloads of one size. Texts are slices of one pool of random characters. */
export class PayloadSource {
  private readonly textLength: number;
  private readonly pool: string;
  private created = 0;

  constructor(bytes: number, seed = 1) {
    this.textLength = bytes - JSON_BYTES_WITHOUT_TEXT;
    if (this.textLength < 1)
      throw new RangeError(`a payload has more than ${JSON_BYTES_WITHOUT_TEXT} bytes, got ${bytes}`);
    this.pool = randomText(this.textLength + POOL_OFFSETS, seed);
  }

  next(): Payload {
    const offset = (this.created * OFFSET_STEP) % POOL_OFFSETS;
    const id = ID_FIRST + this.created;
    this.created += 1;
    return { id, text: this.pool.slice(offset, offset + this.textLength) };
  }
}

function randomText(length: number, seed: number): string {
  const random = new SeededRandom(seed);
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at += 1) bytes[at] = ALPHABET.charCodeAt(random.below(ALPHABET.length));
  return bytes.toString('latin1');
}
