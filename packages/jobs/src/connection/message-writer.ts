// Hot path: `write` runs for every frame.
import {
  type BodyOutcome,
  type Compression,
  compressBody,
  type EncodedBody,
  NO_HEADER,
  type SessionConnection,
  WIRE_ERRORS,
} from '@troupe/transport';
import type { ByteWriter } from '../bytes/byte-writer.js';
import type { StoredPayload } from '../job/payload/stored-payload.js';
import { type WirePiece, WireWriter } from '../wire/wire-writer.js';
import { type OpenPayload, PieceSource } from './piece-source.js';

/** The connection copies smaller bodies, so they may be written from a buffer that is reused. */
const COPIED_BYTES = 16 * 1024;
/** A larger message goes in pieces, between other frames. */
const WHOLE_BYTES_MAX = 1024 * 1024;
/** Messages in pieces that are on their way at once, by their bytes in memory; a larger one goes alone. */
const LARGE_BYTES_MAX = 12 * 1024 * 1024;
/** On a new connection the message would be as large. */
const TOO_LARGE = {
  kind: 'refused',
  errorName: 'PAYLOAD_TOO_LARGE',
  cause: 'a message is larger than the peer takes',
} as const;
/** Compression of a smaller message is not worth its time. */
const COMPRESSED_BYTES_MIN = 1_024;

export interface MessageWriterOptions {
  readonly compress?: Compression | undefined;
  /** Opens a stored payload; needed where there are any. */
  readonly open?: OpenPayload | undefined;
  /** A stored payload could not be read to its end. */
  readonly onLost?: ((payload: StoredPayload, error: Error) => void) | undefined;
  /** It was behind, and is not any more. Called outside the turns of the session. */
  readonly onRoom: () => void;
}

interface OutgoingMessage {
  readonly type: number;
  readonly pieces: readonly WirePiece[];
  readonly length: number;
  /** Bytes of it that are in memory. */
  readonly held: number;
}

/**
 * Writes messages of any size to a connection: small ones as frames, large ones as bodies in pieces. Its user
 * writes no further message while it is behind; only the frames of the message under way wait here.
 */
export class MessageWriter {
  private readonly connection: SessionConnection;
  private readonly options: MessageWriterOptions;
  private readonly waiting: OutgoingMessage[] = [];
  /** Bytes of the messages in pieces that are on their way: the receiver puts them together in memory. */
  private largeBytes = 0;
  /** The outbox is above its high mark. */
  isOutboxFull = false;
  private wasBehind = false;

  constructor(connection: SessionConnection, options: MessageWriterOptions) {
    this.connection = connection;
    this.options = options;
  }

  get isBehind(): boolean {
    return this.isOutboxFull || this.waiting.length > 0;
  }

  /** Takes the bytes in the writer as one frame and empties it. */
  readonly write = (type: number, out: ByteWriter): void => {
    const isSmall = out.length < COPIED_BYTES && this.options.compress === undefined;
    if (isSmall && this.waiting.length === 0) {
      const written = this.connection.write(type, NO_HEADER, out.view(0, out.length));
      if (written === 'accepted' || written === 'closed') return out.reset();
      this.awaitOutbox();
      if (written === 'backpressure') return out.reset();
    }
    const { length } = out;
    const pieces = out instanceof WireWriter ? out.takePieces() : [out.take()];
    const held = pieces.reduce((sum, piece) => sum + (piece instanceof Uint8Array ? piece.length : 0), 0);
    this.waiting.push({ type, length, pieces, held });
    this.pump();
  };

  private pump(): void {
    while (this.waiting.length > 0 && this.begin(this.waiting[0] as OutgoingMessage)) this.waiting.shift();
    this.wasBehind ||= this.isBehind;
  }

  /** There may be room. */
  private advance(): void {
    this.pump();
    if (!this.wasBehind || this.isBehind) return;
    this.wasBehind = false;
    this.options.onRoom();
  }

  private awaitOutbox(): void {
    if (this.isOutboxFull) return;
    this.isOutboxFull = true;
    this.wasBehind = true;
    void this.connection.whenWritable().then(() => {
      this.isOutboxFull = false;
      this.advance();
    });
  }

  /** False where there is no room for it. */
  private begin(message: OutgoingMessage): boolean {
    const isLarge = message.length > WHOLE_BYTES_MAX || message.held < message.length;
    return isLarge ? this.writeInPieces(message) : this.writeWhole(message);
  }

  private writeWhole({ type, pieces }: OutgoingMessage): boolean {
    const { compress } = this.options;
    // A message with stored payloads goes in pieces: here there are bytes only.
    const all = pieces as readonly Uint8Array[];
    const [first] = all;
    const bytes = first !== undefined && all.length === 1 ? first : Buffer.concat(all);
    const isWorthIt = compress !== undefined && bytes.length >= COMPRESSED_BYTES_MIN;
    const { compression, rawLen, body }: EncodedBody = isWorthIt
      ? compressBody(bytes, compress)
      : { body: bytes };
    const header = compression === undefined ? NO_HEADER : { compression, rawLen };
    const written = this.connection.write(type, header, body);
    if (written === 'full' || written === 'backpressure') this.awaitOutbox();
    if (written === 'too-large') this.connection.destroy(TOO_LARGE);
    return written !== 'full';
  }

  private writeInPieces({ type, pieces, length, held }: OutgoingMessage): boolean {
    if (this.largeBytes > 0 && this.largeBytes + held > LARGE_BYTES_MAX) return false;
    const source = new PieceSource(pieces, length, this.options.open);
    const body = this.connection.writeBody(type, NO_HEADER, source, {
      compress: this.options.compress,
      onOutcome: (outcome) => {
        this.largeBytes -= held;
        const { lost } = source;
        if (outcome.kind === 'failed' && lost !== undefined) this.options.onLost?.(lost, outcome.error);
        // The receiver would wait for ever for the rest; on a new connection everything is written again.
        if (outcome.kind !== 'written') this.connection.destroy(isTooLarge(outcome) ? TOO_LARGE : undefined);
        this.advance();
      },
    });
    if (typeof body === 'object') this.largeBytes += held;
    if (body === 'too-large') this.connection.destroy(TOO_LARGE);
    return body !== 'full';
  }
}

function isTooLarge(outcome: BodyOutcome): boolean {
  return outcome.kind === 'stopped' && outcome.code === WIRE_ERRORS.PAYLOAD_TOO_LARGE.code;
}
