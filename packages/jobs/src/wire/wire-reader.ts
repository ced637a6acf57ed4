import { ByteReader } from '../bytes/byte-reader.js';
import { MessageMalformedError } from '../jobs-error.js';

/**
 * Reads a message of a peer. It has no stored payloads: a peer must not name the stored payloads of others.
 */
export class WireReader extends ByteReader {
  protected override malformed(problem: string): MessageMalformedError {
    return new MessageMalformedError(problem);
  }
}
