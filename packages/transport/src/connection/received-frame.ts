import type { IncomingBody } from '../body/incoming-body.js';
import type { FrameHeader } from '../frame/frame-header.js';

/** A frame for the application. */
export class ReceivedFrame {
  readonly type: number;
  readonly header: FrameHeader;
  /** A view into the read buffer, valid until the handler returns. `detach` copies it. */
  readonly body: Buffer;
  /** A streamed body; `body` is empty then. */
  readonly incoming: IncomingBody | null;
  /** The body has memory of its own: it may be kept. */
  readonly isDetached: boolean;

  constructor(
    type: number,
    header: FrameHeader,
    body: Buffer,
    incoming: IncomingBody | null,
    isDetached = false,
  ) {
    this.type = type;
    this.header = header;
    this.body = body;
    this.incoming = incoming;
    this.isDetached = isDetached;
  }

  /** The same frame with a copy of the body, which keeps no read buffer alive. */
  detach(): ReceivedFrame {
    const body = Buffer.allocUnsafeSlow(this.body.length);
    this.body.copy(body);
    return new ReceivedFrame(this.type, this.header, body, this.incoming, true);
  }
}
