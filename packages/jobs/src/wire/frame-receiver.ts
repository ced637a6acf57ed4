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

/** The most that is reserved for a declared length: a peer that lies about it costs no more. */
const RESERVED_BYTES_MAX = 16 * 1024 * 1024;
const FIRST_BYTES = 64 * 1024;

/** Collects the chunks of one body in one buffer. */
export class BodyCollector {
  private buffer: Buffer;
  private at = 0;

  constructor(declared: number | undefined) {
    this.buffer = Buffer.allocUnsafeSlow(Math.min(declared ?? FIRST_BYTES, RESERVED_BYTES_MAX));
  }

  add(chunk: Uint8Array): void {
    const needed = this.at + chunk.length;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length));
      this.buffer.copy(larger, 0, 0, this.at);
      this.buffer = larger;
    }
    this.buffer.set(chunk, this.at);
    this.at = needed;
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.at);
  }
}
