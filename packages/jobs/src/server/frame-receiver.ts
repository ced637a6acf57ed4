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
import { ByteReader } from '../wire/byte-reader.js';

/** Handles one message. What it throws as a malformed message ends the connection, and nothing else. */
export type TakeMessage = (type: number, from: ByteReader, bytes: number) => void;

/** Reads a body in pieces by itself, if it says so. */
export type DivertBody = (type: number, incoming: IncomingBody) => boolean;

/** What arrives from one peer, as whole messages. */
export class Inlet {
  private readonly connection: Connection;
  private readonly bytesMax: number;
  private readonly take: TakeMessage;
  private readonly divert: DivertBody | undefined;

  constructor(connection: Connection, bytesMax: number, take: TakeMessage, divert?: DivertBody) {
    this.connection = connection;
    this.bytesMax = bytesMax;
    this.take = take;
    this.divert = divert;
  }

  receive(frame: ReceivedFrame): void {
    if (frame.incoming === null) this.read(frame, frame.body, false);
    else if (this.divert?.(frame.type, frame.incoming) !== true) this.collect(frame, frame.incoming);
  }

  /** Takes a body that came whole after all: its pieces, put together. */
  whole(type: number, bytes: Buffer): void {
    this.read(new ReceivedFrame(type, NO_HEADER, bytes, null), bytes, true);
  }

  private read(frame: ReceivedFrame, body: Uint8Array, owned: boolean): void {
    const { compression, rawLen } = frame.header;
    try {
      const bytes =
        compression === undefined || rawLen === undefined
          ? body
          : decompressBody({ compression, rawLen, body }, this.bytesMax);
      this.take(frame.type, new ByteReader(bytes, owned), bytes.length);
    } catch (error) {
      if (!(error instanceof JobsError || error instanceof TransportError)) throw error;
      this.connection.writeError('MALFORMED', { field: 'message' });
      this.connection.close();
    }
  }

  /** The transport lets in no more than its window ahead of us, and no body beyond its limit. */
  private collect(frame: ReceivedFrame, incoming: IncomingBody): void {
    const whole = new Gathering(incoming.length);
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

/** What is declared is reserved only so far as this: a peer that lies about the length costs no more. */
const RESERVED_BYTES_MAX = 16 * 1024 * 1024;
const FIRST_BYTES = 64 * 1024;

/** Chunks of one body, put together in one buffer as they come. */
export class Gathering {
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
