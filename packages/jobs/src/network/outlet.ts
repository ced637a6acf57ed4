// Hot path: `post` runs for every frame.
import {
  type BodySource,
  type Compression,
  type Connection,
  NO_HEADER,
  type PackedBody,
  packBody,
} from '@troupe/transport';
import type { ByteWriter } from '../ledger/byte-writer.js';
import { WireWriter } from './wire-writer.js';

/** The connection copies bodies below this, so they may be sent from a buffer that is used again. */
const COPIED_BYTES = 16 * 1024;
/** What is larger goes in pieces, between other frames. */
const WHOLE_BYTES_MAX = 1024 * 1024;
/** Below this compression is not worth its time. */
const WORTH_PACKING_BYTES = 1_024;

export interface OutletOptions {
  readonly compress?: Compression | undefined;
  /** More than this waiting for a peer that does not read ends the connection. */
  readonly waitingBytesMax: number;
}

interface Parcel {
  readonly type: number;
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
}

/**
 * What leaves for one peer. Never blocks and never refuses: what the connection cannot take now waits here, within a bound, and
 * whoever is behind it is cut off. Nothing is lost by that: a peer that comes back asks again for what it has not had.
 */
export class Outlet {
  private readonly connection: Connection;
  private readonly options: OutletOptions;
  private waiting: Parcel[] = [];
  private large: Parcel[] = [];
  private waitingBytes = 0;
  private isBehind = false;

  constructor(connection: Connection, options: OutletOptions) {
    this.connection = connection;
    this.options = options;
  }

  /** Takes what stands in the writer and empties it. */
  readonly post = (type: number, out: ByteWriter): void => {
    const isFree = !this.isBehind && this.waiting.length === 0;
    if (isFree && out.length < COPIED_BYTES && this.options.compress === undefined) {
      const sent = this.connection.send(type, NO_HEADER, out.view(0, out.length));
      if (sent === 'accepted' || sent === 'closed') return out.reset();
      if (sent === 'behind') {
        this.isBehind = true;
        return out.reset();
      }
    }
    const { length } = out;
    this.queue({ type, length, pieces: out instanceof WireWriter ? out.takePieces() : [out.take()] });
  };

  /** The connection has room again. */
  drained(): void {
    this.isBehind = false;
    this.pump();
  }

  private queue(parcel: Parcel): void {
    if (parcel.length > WHOLE_BYTES_MAX) this.large.push(parcel);
    else this.waiting.push(parcel);
    this.waitingBytes += parcel.length;
    this.pump();
    if (this.waitingBytes <= this.options.waitingBytesMax) return;
    this.connection.destroy({ kind: 'slow-reader' });
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
    const [first] = pieces;
    const bytes = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
    const isWorthIt = compress !== undefined && bytes.length >= WORTH_PACKING_BYTES;
    const { compression, rawLen, body }: PackedBody = isWorthIt ? packBody(bytes, compress) : { body: bytes };
    const sent = this.connection.send(
      type,
      compression === undefined ? NO_HEADER : { compression, rawLen },
      body,
    );
    if (sent === 'full') return false;
    if (sent === 'behind') this.isBehind = true;
    if (sent === 'too-large') this.connection.destroy();
    this.waitingBytes -= bytes.length;
    return true;
  }

  private pumpLarge(): void {
    while (this.large.length > 0) {
      const { type, pieces, length } = this.large[0] as Parcel;
      const body = this.connection.sendBody(type, NO_HEADER, bodyFromPieces(pieces, length), {
        compress: this.options.compress,
        onOutcome: (outcome) => {
          this.waitingBytes -= length;
          // The receiver would wait for ever for the rest of it; with a new connection everything is said again.
          if (outcome.kind !== 'sent') this.connection.destroy();
          this.pumpLarge();
        },
      });
      if (body === 'full') return;
      this.large.shift();
      if (body === 'closed') this.waitingBytes -= length;
      if (body === 'too-large') this.connection.destroy();
    }
  }
}

/** Pulled piece by piece; nothing is put together first. */
function bodyFromPieces(pieces: readonly Uint8Array[], length: number): BodySource {
  let piece = 0;
  let at = 0;
  return {
    length,
    read(bytesMax, done) {
      while (piece < pieces.length && at === pieces[piece]?.length) {
        piece += 1;
        at = 0;
      }
      const current = pieces[piece];
      if (current === undefined) return done(null, null);
      const chunk = current.subarray(at, at + bytesMax);
      at += chunk.length;
      done(null, chunk);
    },
    close() {
      piece = pieces.length;
    },
  };
}
