// Hot path: `receive` runs for every frame.

import {
  type Connection,
  decompressBody,
  type IncomingBody,
  NO_HEADER,
  ReceivedFrame,
  TransportError,
} from '@troupe/transport';
import { JobsError, MessageTooLongError } from '../jobs-error.js';
import { type MessageLimits, messageBytesMax } from './message-limits.js';
import { WireReader } from './wire-reader.js';

/** Handles one message. A malformed message that it throws ends the connection, and nothing else. */
export type HandleMessage = (type: number, from: WireReader, bytes: number) => void;

/** Reads a body in pieces by itself if it returns true. */
export type DivertBody = (frame: ReceivedFrame, incoming: IncomingBody) => boolean;

/** The frames of one peer, as whole messages. */
export class FrameReceiver {
  private readonly connection: Connection;
  private readonly limits: MessageLimits;
  private readonly handle: HandleMessage;
  private readonly divert: DivertBody | undefined;

  constructor(connection: Connection, limits: MessageLimits, handle: HandleMessage, divert?: DivertBody) {
    this.connection = connection;
    this.limits = limits;
    this.handle = handle;
    this.divert = divert;
  }

  receive(frame: ReceivedFrame): void {
    if (frame.incoming === null) this.read(frame, frame.body, false);
    else if (this.divert?.(frame, frame.incoming) !== true) this.collect(frame, frame.incoming);
  }

  /** A diverted body that was put together after all. */
  receiveWhole(type: number, bytes: Buffer): void {
    this.read(new ReceivedFrame(type, NO_HEADER, bytes, null), bytes, true);
  }

  private read(frame: ReceivedFrame, body: Uint8Array, owned: boolean): void {
    const { compression, rawLen } = frame.header;
    try {
      const bytes =
        compression === undefined || rawLen === undefined
          ? body
          : decompressBody({ compression, rawLen, body }, messageBytesMax(frame.type, this.limits));
      this.handle(frame.type, new WireReader(bytes, owned, this.limits.itemsMax), bytes.length);
    } catch (error) {
      if (!(error instanceof JobsError || error instanceof TransportError)) throw error;
      if (error instanceof MessageTooLongError) this.refuseTooLarge('items');
      else this.refuseMalformed();
    }
  }

  private refuseTooLarge(field: 'items' | 'bodyLength'): void {
    this.connection.writeError('PAYLOAD_TOO_LARGE', { field });
    this.connection.close();
  }

  refuseMalformed(): void {
    this.connection.writeError('MALFORMED', { field: 'message' });
    this.connection.close();
  }

  /** `received`: the part that was read before. */
  collect(frame: ReceivedFrame, incoming: IncomingBody, received?: Buffer): void {
    const bytesMax = messageBytesMax(frame.type, this.limits);
    this.connection.gather(incoming, bytesMax, {
      received,
      onWhole: (bytes) => this.read(frame, bytes, true),
      onRefused: (errorName) => {
        if (errorName === 'PAYLOAD_TOO_LARGE') return this.refuseTooLarge('bodyLength');
        this.connection.writeError(errorName, { field: 'body' });
        this.connection.close();
      },
      onFail: () => this.connection.close(),
    });
  }
}
