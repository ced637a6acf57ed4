// Hot path: `receive` runs for every frame.

import {
  type Connection,
  decompressBody,
  type IncomingBody,
  NO_HEADER,
  ReceivedFrame,
  TransportError,
} from '@troupe/transport';
import { JobsError } from '../jobs-error.js';
import { BodyCollector } from './body-collector.js';
import { WireReader } from './wire-reader.js';

/** Handles one message. A malformed message that it throws ends the connection, and nothing else. */
export type HandleMessage = (type: number, from: WireReader, bytes: number) => void;

/** Reads a body in pieces by itself if it returns true. */
export type DivertBody = (type: number, incoming: IncomingBody) => boolean;

/** The frames of one peer, as whole messages. */
export class FrameReceiver {
  private readonly connection: Connection;
  private readonly bytesMax: number;
  private readonly handle: HandleMessage;
  private readonly divert: DivertBody | undefined;

  constructor(connection: Connection, bytesMax: number, handle: HandleMessage, divert?: DivertBody) {
    this.connection = connection;
    this.bytesMax = bytesMax;
    this.handle = handle;
    this.divert = divert;
  }

  receive(frame: ReceivedFrame): void {
    if (frame.incoming === null) this.read(frame, frame.body, false);
    else if (this.divert?.(frame.type, frame.incoming) !== true) this.collect(frame, frame.incoming);
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
          : decompressBody({ compression, rawLen, body }, this.bytesMax);
      this.handle(frame.type, new WireReader(bytes, owned), bytes.length);
    } catch (error) {
      if (!(error instanceof JobsError || error instanceof TransportError)) throw error;
      this.refuseMalformed();
    }
  }

  refuseMalformed(): void {
    this.connection.writeError('MALFORMED', { field: 'message' });
    this.connection.close();
  }

  /** The transport bounds the body by its limit, and the bytes not yet consumed by its window. */
  private collect(frame: ReceivedFrame, incoming: IncomingBody): void {
    const whole = new BodyCollector(incoming.length);
    incoming.read({
      onChunk: (chunk) => {
        whole.add(chunk);
        incoming.consumed(chunk.length);
      },
      onEnd: () => this.read(frame, whole.bytes(), true),
      onFail: () => this.connection.close(),
    });
  }
}
