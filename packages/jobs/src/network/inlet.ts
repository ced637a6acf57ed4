// Hot path: `receive` runs for every frame.
import {
  type Connection,
  type Frame,
  type IncomingBody,
  TransportError,
  unpackBody,
} from '@troupe/transport';
import { JobsError } from '../jobs-error.js';
import { ByteReader } from '../ledger/byte-reader.js';

/** Handles one message. What it throws as a malformed message ends the connection, and nothing else. */
export type TakeMessage = (type: number, from: ByteReader, bytes: number) => void;

/** What arrives from one peer, as whole messages. */
export class Inlet {
  private readonly connection: Connection;
  private readonly bytesMax: number;
  private readonly take: TakeMessage;

  constructor(connection: Connection, bytesMax: number, take: TakeMessage) {
    this.connection = connection;
    this.bytesMax = bytesMax;
    this.take = take;
  }

  receive(frame: Frame): void {
    if (frame.incoming === null) this.read(frame, frame.body);
    else this.collect(frame, frame.incoming);
  }

  private read(frame: Frame, body: Uint8Array): void {
    const { compression, rawLen } = frame.header;
    try {
      const bytes =
        compression === undefined || rawLen === undefined
          ? body
          : unpackBody({ compression, rawLen, body }, this.bytesMax);
      this.take(frame.type, new ByteReader(bytes), bytes.length);
    } catch (error) {
      if (!(error instanceof JobsError || error instanceof TransportError)) throw error;
      this.connection.answer('MALFORMED', { field: 'message' });
      this.connection.close();
    }
  }

  /** The transport lets in no more than its window ahead of us, and no body beyond its limit. */
  private collect(frame: Frame, incoming: IncomingBody): void {
    const chunks: Buffer[] = [];
    incoming.read({
      onChunk: (chunk) => {
        chunks.push(Buffer.from(chunk));
        incoming.consumed(chunk.length);
      },
      onEnd: () => this.read(frame, Buffer.concat(chunks)),
      onFail: () => this.connection.close(),
    });
  }
}
