// Hot path: `write` runs for every frame.
import {
  type BodySource,
  type Compression,
  type Connection,
  compressBody,
  type EncodedBody,
  NO_HEADER,
} from '@troupe/transport';
import type { ByteWriter } from '../bytes/byte-writer.js';
import { FilePayload, type StoredPayload } from '../job/stored-payload.js';
import { type WirePiece, WireWriter } from './wire-writer.js';

/** The connection copies smaller bodies, so they may be sent from a buffer that is reused. */
const COPIED_BYTES = 16 * 1024;
/** A larger message goes in pieces, between other frames. */
const WHOLE_BYTES_MAX = 1024 * 1024;
/** Messages in pieces that are on their way at once, by their bytes in memory; a larger one goes alone. */
const LARGE_BYTES_MAX = 12 * 1024 * 1024;
/** Compression of a smaller message is not worth its time. */
const COMPRESSED_BYTES_MIN = 1_024;

export interface FrameSenderOptions {
  readonly compress?: Compression | undefined;
  /** The sender is full at so many bytes; as many of frames that cannot be held back end the connection. */
  readonly waitingBytesMax: number;
  /** While the sender is full, its user holds back frames of this type. */
  readonly heldBack?: number | undefined;
  /** It was full, and is not any more. */
  readonly onRoom?: (() => void) | undefined;
  /** Opens a stored payload; needed where there are any. */
  readonly open?: ((payload: StoredPayload) => BodySource) | undefined;
  /** A stored payload could not be read to its end. */
  readonly onLost?: ((payload: StoredPayload, error: Error) => void) | undefined;
}

interface OutgoingMessage {
  readonly type: number;
  readonly pieces: readonly WirePiece[];
  readonly length: number;
  /** Bytes of it that are in memory. */
  readonly held: number;
}

/**
 * The messages to one peer. Never blocks and never refuses: a message that the connection cannot take now
 * waits here. While the waiting bytes reach the bound, frames of the type `heldBack` are held back by the
 * user (ADR 0416); as many bytes of other frames end the connection. Nothing is lost by that: a peer that
 * reconnects asks for the rest again.
 */
export class FrameSender {
  private readonly connection: Connection;
  private readonly options: FrameSenderOptions;
  private waiting: OutgoingMessage[] = [];
  private large: OutgoingMessage[] = [];
  /** Bytes of the messages in pieces that are on their way: the receiver puts them together in memory. */
  private largeBytes = 0;
  private waitingBytes = 0;
  /** The part of them that could not be held back. */
  private urgentBytes = 0;
  private isBehind = false;
  private wasFull = false;

  constructor(connection: Connection, options: FrameSenderOptions) {
    this.connection = connection;
    this.options = options;
  }

  /** Takes the bytes in the writer as one frame and empties it. */
  readonly write = (type: number, out: ByteWriter): void => {
    const isFree = !this.isBehind && this.waiting.length === 0;
    if (isFree && out.length < COPIED_BYTES && this.options.compress === undefined) {
      const sent = this.connection.write(type, NO_HEADER, out.view(0, out.length));
      if (sent === 'accepted' || sent === 'closed') return out.reset();
      if (sent === 'backpressure') {
        this.isBehind = true;
        return out.reset();
      }
    }
    const { length } = out;
    const pieces = out instanceof WireWriter ? out.takePieces() : [out.take()];
    const held = pieces.reduce((sum, piece) => sum + (piece instanceof Uint8Array ? piece.length : 0), 0);
    this.queue({ type, length, pieces, held });
  };

  /** A message may be larger than the bound: it is taken where there is any room. */
  get isFull(): boolean {
    return this.waitingBytes >= this.options.waitingBytesMax;
  }

  /** The connection has room again. */
  drained(): void {
    this.isBehind = false;
    this.pump();
    this.ease();
  }

  private queue(message: OutgoingMessage): void {
    if (message.length > WHOLE_BYTES_MAX || message.held < message.length) this.large.push(message);
    else this.waiting.push(message);
    this.count(message.type, message.held);
    this.pump();
    this.wasFull ||= this.isFull;
    if (this.urgentBytes > this.options.waitingBytesMax) this.connection.destroy({ kind: 'slow-reader' });
  }

  private count(type: number, bytes: number): void {
    this.waitingBytes += bytes;
    if (type !== this.options.heldBack) this.urgentBytes += bytes;
  }

  private ease(): void {
    if (!this.wasFull || this.isFull) return;
    this.wasFull = false;
    this.options.onRoom?.();
  }

  private pump(): void {
    this.pumpLarge();
    let taken = 0;
    for (; taken < this.waiting.length && !this.isBehind; taken += 1) {
      if (!this.sendWhole(this.waiting[taken] as OutgoingMessage)) break;
    }
    if (taken > 0) this.waiting = this.waiting.slice(taken);
  }

  private sendWhole({ type, pieces }: OutgoingMessage): boolean {
    const { compress } = this.options;
    // A message with stored payloads goes in pieces: here there are bytes only.
    const all = pieces as readonly Uint8Array[];
    const [first] = all;
    const bytes = first !== undefined && all.length === 1 ? first : Buffer.concat(all);
    const isWorthIt = compress !== undefined && bytes.length >= COMPRESSED_BYTES_MIN;
    const { compression, rawLen, body }: EncodedBody = isWorthIt
      ? compressBody(bytes, compress)
      : { body: bytes };
    const sent = this.connection.write(
      type,
      compression === undefined ? NO_HEADER : { compression, rawLen },
      body,
    );
    if (sent === 'full') return false;
    if (sent === 'backpressure') this.isBehind = true;
    if (sent === 'too-large') this.connection.destroy();
    this.count(type, -bytes.length);
    return true;
  }

  private pumpLarge(): void {
    while (this.large.length > 0) {
      const { type, pieces, length, held } = this.large[0] as OutgoingMessage;
      if (this.largeBytes > 0 && this.largeBytes + held > LARGE_BYTES_MAX) return;
      const source = new PieceSource(pieces, length, this.options.open);
      const body = this.connection.writeBody(type, NO_HEADER, source, {
        compress: this.options.compress,
        onOutcome: (outcome) => {
          this.largeBytes -= held;
          this.count(type, -held);
          const { lost } = source;
          if (outcome.kind === 'failed' && lost !== undefined) this.options.onLost?.(lost, outcome.error);
          // The receiver would wait for ever for the rest; on a new connection everything is sent again.
          if (outcome.kind !== 'written') this.connection.destroy();
          this.pumpLarge();
          this.ease();
        },
      });
      if (body === 'full') return;
      this.large.shift();
      if (typeof body === 'object') this.largeBytes += held;
      if (body === 'closed') this.count(type, -held);
      if (body === 'too-large') this.connection.destroy();
    }
  }
}

/** Pulled piece by piece: nothing is joined first, and a stored payload is opened when its turn comes. */
class PieceSource implements BodySource {
  readonly length: number;
  /** The stored payload that could not be read. */
  lost: StoredPayload | undefined = undefined;
  private readonly pieces: readonly WirePiece[];
  private readonly open: FrameSenderOptions['open'];
  private piece = 0;
  private at = 0;
  private source: BodySource | undefined = undefined;
  /** Chunks not yet released, in order, with their source. */
  private readonly lent: { readonly chunk: Uint8Array; readonly source: BodySource }[] = [];

  constructor(pieces: readonly WirePiece[], length: number, open: FrameSenderOptions['open']) {
    this.pieces = pieces;
    this.length = length;
    this.open = open;
  }

  read(bytesMax: number, done: (error: Error | null, chunk: Uint8Array | null) => void): void {
    const current = this.pieces[this.piece];
    if (current === undefined) return done(null, null);
    if (!(current instanceof Uint8Array)) return this.readStored(current, bytesMax, done);
    const chunk = current.subarray(this.at, this.at + bytesMax);
    this.at += chunk.length;
    if (this.at === current.length) this.advance();
    if (chunk.length === 0) this.read(bytesMax, done);
    else done(null, chunk);
  }

  release(chunk: Uint8Array): void {
    const [first] = this.lent;
    // A piece in memory has no source to give it back to.
    if (first?.chunk !== chunk) return;
    this.lent.shift();
    first.source.release?.(chunk);
  }

  close(): void {
    this.source?.close();
    this.piece = this.pieces.length;
  }

  private advance(): void {
    this.piece += 1;
    this.at = 0;
  }

  private fail(
    piece: StoredPayload,
    error: Error,
    done: (error: Error | null, chunk: Uint8Array | null) => void,
  ): void {
    this.lost = piece;
    done(error, null);
  }

  private readStored(
    piece: StoredPayload,
    bytesMax: number,
    done: (error: Error | null, chunk: Uint8Array | null) => void,
  ): void {
    try {
      this.source ??= piece instanceof FilePayload ? piece.open() : this.open?.(piece);
    } catch (error) {
      // The file is not there any more.
      return this.fail(piece, error as Error, done);
    }
    const { source } = this;
    source?.read(bytesMax, (error, chunk) => {
      if (error !== null) return this.fail(piece, error, done);
      this.at += chunk?.length ?? 0;
      const isOver = chunk === null ? this.at < piece.length : this.at > piece.length;
      if (isOver) return this.fail(piece, new Error(`${this.at} bytes, ${piece.length} were expected`), done);
      if (chunk !== null) {
        this.lent.push({ chunk, source });
        return done(null, chunk);
      }
      source.close();
      this.source = undefined;
      this.advance();
      this.read(bytesMax, done);
    });
  }
}
