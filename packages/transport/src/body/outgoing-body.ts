import type { Outbox } from '../connection/outbox.js';
import { WIRE_ERRORS } from '../connection/wire-error.js';
import { compressBody } from '../frame/compression.js';
import type { Compression } from '../frame/frame-header.js';
import { FrameType } from '../frame/frame-type.js';
import type { FrameWriter } from '../frame/frame-writer.js';
import { BodyBrokenError } from '../transport-error.js';
import type { BodySource } from './body-source.js';

/** How an outgoing body ended. 'written' means queued for the socket, not received by the peer. */
export type BodyOutcome =
  | { readonly kind: 'written'; readonly bytes: number }
  | { readonly kind: 'stopped'; readonly code: number }
  | { readonly kind: 'failed'; readonly error: Error };

export interface OutgoingBodyOptions {
  /** Compresses the body on its way. Default: not at all. */
  readonly compress?: Compression | undefined;
  /** The body was taken, stopped by the peer, or broken off. */
  readonly onOutcome?: ((outcome: BodyOutcome) => void) | undefined;
}

const LAST = 1;
const EMPTY = Buffer.alloc(0);

/** A streamed body that is being written: at most one chunk is read ahead, and only while there is credit. */
export class OutgoingBody {
  readonly id: number;
  private readonly source: BodySource;
  private readonly options: OutgoingBodyOptions;
  private readonly chunkBytesMax: number;
  private readonly onReady: () => void;
  private creditBytes: number;
  private writtenBytes = 0;
  private chunk: Uint8Array | null = null;
  private sourceEnded = false;
  private error: Error | null = null;
  private reading = false;
  private ended = false;

  constructor(
    id: number,
    source: BodySource,
    grant: { readonly windowBytes: number; readonly chunkBytesMax: number },
    options: OutgoingBodyOptions,
    onReady: () => void,
  ) {
    this.id = id;
    this.source = source;
    this.creditBytes = grant.windowBytes;
    this.chunkBytesMax = grant.chunkBytesMax;
    this.options = options;
    this.onReady = onReady;
  }

  get isEnded(): boolean {
    return this.ended;
  }

  grant(bytes: number): void {
    this.creditBytes += bytes;
  }

  /** The peer gets a BodyAbort in place of the next chunk. */
  cancel(): void {
    this.error ??= new BodyBrokenError('cancelled by its sender', 0);
    this.onReady();
  }

  /** Writes at most one chunk; false where none is ready. */
  writeNext(outbox: Outbox): boolean {
    if (this.ended) return false;
    if (this.chunk === null && !this.sourceEnded && this.error === null) this.readAhead();
    if (this.error !== null) return this.abort(outbox.writer, this.error);
    if (this.chunk !== null) {
      const chunk = this.chunk;
      this.writeChunk(outbox.writer, chunk);
      outbox.lend(chunk, this.source);
      return true;
    }
    return this.sourceEnded && this.finish(outbox.writer);
  }

  end(outcome: BodyOutcome): void {
    if (this.ended) return;
    this.ended = true;
    this.chunk = null;
    this.source.close();
    this.options.onOutcome?.(outcome);
  }

  private readAhead(): void {
    const bytesMax = Math.min(this.chunkBytesMax, this.creditBytes);
    if (this.reading || bytesMax === 0) return;
    this.reading = true;
    let now = true;
    this.source.read(bytesMax, (error, chunk) => {
      this.reading = false;
      if (this.ended) return;
      if (error !== null) this.error = error;
      else if (chunk === null) this.sourceEnded = true;
      else this.chunk = chunk;
      if (!now) this.onReady();
    });
    now = false;
  }

  private writeChunk(writer: FrameWriter, chunk: Uint8Array): void {
    this.chunk = null;
    this.creditBytes -= chunk.length;
    this.writtenBytes += chunk.length;
    const packed = this.options.compress === undefined ? null : compressBody(chunk, this.options.compress);
    if (packed?.compression === undefined) {
      writer.writeChunk(FrameType.BodyChunk, this.id, 0, chunk);
      return;
    }
    const rawLen = Buffer.alloc(4);
    rawLen.writeUInt32LE(chunk.length);
    const method = packed.compression === 'gzip' ? 1 : 2;
    writer.writeChunk(FrameType.BodyChunk, this.id, method << 4, Buffer.concat([rawLen, packed.body]));
  }

  private finish(writer: FrameWriter): boolean {
    const { length } = this.source;
    if (length !== undefined && length !== this.writtenBytes) {
      return this.abort(
        writer,
        new BodyBrokenError(
          `its source ended after ${this.writtenBytes} bytes of ${length}`,
          WIRE_ERRORS.MALFORMED.code,
        ),
      );
    }
    writer.writeChunk(FrameType.BodyChunk, this.id, LAST, EMPTY);
    this.end({ kind: 'written', bytes: this.writtenBytes });
    return true;
  }

  private abort(writer: FrameWriter, error: Error): boolean {
    const payload = Buffer.alloc(6);
    payload.writeUInt32LE(this.id, 0);
    writer.writeFrame(FrameType.BodyAbort, payload);
    this.end({ kind: 'failed', error });
    return true;
  }
}
