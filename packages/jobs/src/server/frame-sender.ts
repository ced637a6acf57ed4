// Hot path: `post` runs for every frame.
import {
  type BodySource,
  type Compression,
  type Connection,
  compressBody,
  type EncodedBody,
  NO_HEADER,
} from '@troupe/transport';
import { FilePayload, type StoredPayload } from '../job/stored-payload.js';
import type { ByteWriter } from '../wire/byte-writer.js';
import { type WirePiece, WireWriter } from '../wire/wire-writer.js';

/** The connection copies bodies below this, so they may be sent from a buffer that is used again. */
const COPIED_BYTES = 16 * 1024;
/** What is larger goes in pieces, between other frames. */
const WHOLE_BYTES_MAX = 1024 * 1024;
/** Below this compression is not worth its time. */
const WORTH_PACKING_BYTES = 1_024;

export interface OutletOptions {
  readonly compress?: Compression | undefined;
  /** From here on it is full; as much that could not be held back ends the connection. */
  readonly waitingBytesMax: number;
  /** Frames of this type are held back by whoever posts them while it is full. */
  readonly heldBack?: number | undefined;
  /** It was full, and is not any more. */
  readonly onRoom?: (() => void) | undefined;
  /** Opens what is stored; a peer that is sent none needs it not. */
  readonly open?: ((payload: StoredPayload) => BodySource) | undefined;
  /** A stored payload could not be read to its end. */
  readonly onLost?: ((payload: StoredPayload, error: Error) => void) | undefined;
}

interface Parcel {
  readonly type: number;
  readonly pieces: readonly WirePiece[];
  readonly length: number;
  /** What of it is in memory. */
  readonly held: number;
}

/**
 * What leaves for one peer. Never blocks and never refuses: what the connection cannot take now waits here. Once that is as much as the
 * bound, what can be held back is, until there is room (ADR 0120); as much of what cannot ends the connection. Nothing is lost by that: a
 * peer that comes back asks again for what it has not had.
 */
export class Outlet {
  private readonly connection: Connection;
  private readonly options: OutletOptions;
  private waiting: Parcel[] = [];
  private large: Parcel[] = [];
  private waitingBytes = 0;
  /** Of these, what could not be held back. */
  private urgentBytes = 0;
  private isBehind = false;
  private wasFull = false;

  constructor(connection: Connection, options: OutletOptions) {
    this.connection = connection;
    this.options = options;
  }

  /** Takes what stands in the writer and empties it. */
  readonly post = (type: number, out: ByteWriter): void => {
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

  /** A parcel may be larger than the bound: it is taken where there is room for any. */
  get isFull(): boolean {
    return this.waitingBytes >= this.options.waitingBytesMax;
  }

  /** The connection has room again. */
  drained(): void {
    this.isBehind = false;
    this.pump();
    this.ease();
  }

  private queue(parcel: Parcel): void {
    if (parcel.length > WHOLE_BYTES_MAX || parcel.held < parcel.length) this.large.push(parcel);
    else this.waiting.push(parcel);
    this.count(parcel.type, parcel.held);
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
      if (!this.sendWhole(this.waiting[taken] as Parcel)) break;
    }
    if (taken > 0) this.waiting = this.waiting.slice(taken);
  }

  private sendWhole({ type, pieces }: Parcel): boolean {
    const { compress } = this.options;
    // What is read while it is sent goes in pieces: here there are bytes only.
    const all = pieces as readonly Uint8Array[];
    const [first] = all;
    const bytes = first !== undefined && all.length === 1 ? first : Buffer.concat(all);
    const isWorthIt = compress !== undefined && bytes.length >= WORTH_PACKING_BYTES;
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
      const { type, pieces, length, held } = this.large[0] as Parcel;
      const source = new PieceSource(pieces, length, this.options.open);
      const body = this.connection.writeBody(type, NO_HEADER, source, {
        compress: this.options.compress,
        onOutcome: (outcome) => {
          this.count(type, -held);
          const { lost } = source;
          if (outcome.kind === 'failed' && lost !== undefined) this.options.onLost?.(lost, outcome.error);
          // The receiver would wait for ever for the rest of it; with a new connection everything is said again.
          if (outcome.kind !== 'written') this.connection.destroy();
          this.pumpLarge();
          this.ease();
        },
      });
      if (body === 'full') return;
      this.large.shift();
      if (body === 'closed') this.count(type, -held);
      if (body === 'too-large') this.connection.destroy();
    }
  }
}

/** Pulled piece by piece; nothing is put together first, and what is elsewhere is opened when its turn comes. */
class PieceSource implements BodySource {
  readonly length: number;
  /** The stored payload that could not be read. */
  lost: StoredPayload | undefined = undefined;
  private readonly pieces: readonly WirePiece[];
  private readonly open: OutletOptions['open'];
  private piece = 0;
  private at = 0;
  private source: BodySource | undefined = undefined;
  /** Chunks on their way, in order, and where they came from. */
  private readonly lent: { readonly chunk: Uint8Array; readonly source: BodySource }[] = [];

  constructor(pieces: readonly WirePiece[], length: number, open: OutletOptions['open']) {
    this.pieces = pieces;
    this.length = length;
    this.open = open;
  }

  read(bytesMax: number, done: (error: Error | null, chunk: Uint8Array | null) => void): void {
    const current = this.pieces[this.piece];
    if (current === undefined) return done(null, null);
    if (!(current instanceof Uint8Array)) return this.readElsewhere(current, bytesMax, done);
    const chunk = current.subarray(this.at, this.at + bytesMax);
    this.at += chunk.length;
    if (this.at === current.length) this.advance();
    if (chunk.length === 0) this.read(bytesMax, done);
    else done(null, chunk);
  }

  release(chunk: Uint8Array): void {
    const [first] = this.lent;
    // Pieces that are in memory anyway are nobody's to have back.
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

  private readElsewhere(
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
