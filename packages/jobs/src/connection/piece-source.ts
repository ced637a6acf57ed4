import type { BodySource } from '@troupe/transport';
import { FilePayload, type StoredPayload } from '../job/payload/stored-payload.js';
import type { WirePiece } from '../wire/wire-writer.js';

export type OpenPayload = (payload: StoredPayload) => BodySource;

/** Pulled piece by piece: nothing is joined first, and a stored payload is opened when its turn comes. */
export class PieceSource implements BodySource {
  readonly length: number;
  /** The stored payload that could not be read. */
  lost: StoredPayload | undefined = undefined;
  private readonly pieces: readonly WirePiece[];
  private readonly open: OpenPayload | undefined;
  private piece = 0;
  private at = 0;
  private source: BodySource | undefined = undefined;
  /** Chunks not yet released, in order, with their source. */
  private readonly lent: { readonly chunk: Uint8Array; readonly source: BodySource }[] = [];

  constructor(pieces: readonly WirePiece[], length: number, open: OpenPayload | undefined) {
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
