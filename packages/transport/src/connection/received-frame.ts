import type { FrameHeader } from '../frame/header.js';
import type { IncomingBody } from './incoming-body.js';

/** A message of the application as it came in. */
export class ReceivedFrame {
  readonly type: number;
  readonly header: FrameHeader;
  /** A view into the read buffer, good until the handler returns. `detach` gives bytes that stay. */
  readonly body: Buffer;
  /** Present where the body comes in pieces; `body` is empty then. */
  readonly incoming: IncomingBody | null;

  constructor(type: number, header: FrameHeader, body: Buffer, incoming: IncomingBody | null) {
    this.type = type;
    this.header = header;
    this.body = body;
    this.incoming = incoming;
  }

  /** The same frame with a body of its own, exactly as long as it is: keeping it keeps no read buffer alive. */
  detach(): ReceivedFrame {
    const body = Buffer.allocUnsafeSlow(this.body.length);
    this.body.copy(body);
    return new ReceivedFrame(this.type, this.header, body, this.incoming);
  }
}
