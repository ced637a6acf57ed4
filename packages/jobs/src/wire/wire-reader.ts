import { ByteReader } from '../bytes/byte-reader.js';
import { MessageMalformedError, MessageTooLongError } from '../jobs-error.js';

/**
 * Reads a message of a peer. It has no stored payloads: a peer must not name the stored payloads of others.
 * The items of its lists are counted.
 */
export class WireReader extends ByteReader {
  private readonly itemsMax: number;
  private items = 0;

  constructor(bytes: Uint8Array, owned = false, itemsMax = Number.POSITIVE_INFINITY) {
    super(bytes, owned);
    this.itemsMax = itemsMax;
  }

  /** Whether a list that goes on to the end of the message has another item, which is counted. */
  nextItem(): boolean {
    if (this.done) return false;
    this.countItem();
    return true;
  }

  override countItem(): void {
    this.items += 1;
    if (this.items > this.itemsMax) throw new MessageTooLongError(this.itemsMax);
  }

  override malformed(problem: string): MessageMalformedError {
    return new MessageMalformedError(problem);
  }
}
