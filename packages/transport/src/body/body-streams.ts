import type { TransportLimits } from '../access/transport-limits.js';
import type { Outbox } from '../connection/outbox.js';
import { WIRE_ERRORS, type WireErrorName } from '../connection/wire-error.js';
import { decompressBody } from '../frame/compression.js';
import type { FrameHeader } from '../frame/frame-header.js';
import { FrameType } from '../frame/frame-type.js';
import type { Capacity } from '../handshake/hello.js';
import { BodyBrokenError, TransportError } from '../transport-error.js';
import type { BodySource } from './body-source.js';
import { IncomingBody } from './incoming-body.js';
import { OutgoingBody, type OutgoingBodyOptions } from './outgoing-body.js';

const CHUNK_HEAD_BYTES = 5;
const LAST = 1;
const COMPRESSED = 0x30;

/** A problem of a frame about a body. */
export interface BodyFault {
  readonly errorName: WireErrorName;
  readonly field: string;
}

/** The chunk that is arriving in fragments; without a body its rest is discarded. */
interface PartialChunk {
  readonly body: IncomingBody | null;
  readonly last: boolean;
}

const NO_PARTIAL_CHUNK: PartialChunk = { body: null, last: false };

/** The streamed bodies of one connection, in both directions (docs/wire-protocol.md §6). */
export class BodyStreams {
  private readonly limits: TransportLimits;
  private readonly outbox: Outbox;
  private readonly scheduleFlush: () => void;
  private readonly incoming = new Map<number, IncomingBody>();
  private outgoing: OutgoingBody[] = [];
  private nextTurn = 0;
  private lastIncomingId = 0;
  private lastOutgoingId = 0;
  private partial: PartialChunk = NO_PARTIAL_CHUNK;

  constructor(limits: TransportLimits, outbox: Outbox, scheduleFlush: () => void) {
    this.limits = limits;
    this.outbox = outbox;
    this.scheduleFlush = scheduleFlush;
  }

  get outgoingCount(): number {
    return this.outgoing.length;
  }

  get incomingCount(): number {
    return this.incoming.size;
  }

  /** Writes the frame that announces a body; `writeChunks` writes its chunks. */
  begin(
    type: number,
    header: FrameHeader,
    source: BodySource,
    peer: Capacity,
    options: OutgoingBodyOptions,
  ): OutgoingBody {
    this.lastOutgoingId += 1;
    const body = new OutgoingBody(this.lastOutgoingId, source, peer, options, this.scheduleFlush);
    this.outbox.writer.writeMessage(
      type,
      { ...header, bodyId: body.id, bodyLength: source.length },
      new Uint8Array(0),
    );
    this.outgoing.push(body);
    return body;
  }

  /** One chunk of each body in turn while there is room, so that no body waits for the end of another. */
  writeChunks(hasRoom: () => boolean): void {
    let idle = 0;
    while (idle < this.outgoing.length && hasRoom()) {
      this.nextTurn = this.nextTurn % this.outgoing.length;
      const body = this.outgoing[this.nextTurn] as OutgoingBody; // nextTurn < length
      idle = body.writeNext(this.outbox) ? 0 : idle + 1;
      if (body.isEnded) this.outgoing.splice(this.nextTurn, 1);
      else this.nextTurn += 1;
    }
  }

  /** The header of a received frame announces a body. */
  accept(header: FrameHeader, inlineBytes: number): IncomingBody | BodyFault {
    const { bodyId = 0, bodyLength } = header;
    if (bodyId <= this.lastIncomingId || inlineBytes > 0) return { errorName: 'MALFORMED', field: 'bodyId' };
    this.lastIncomingId = bodyId;
    const code = this.incoming.size >= this.limits.bodiesMax ? 'BUSY' : 'PAYLOAD_TOO_LARGE';
    if (code === 'BUSY' || (bodyLength ?? 0) > this.limits.bodyBytesMax) {
      this.writeCode(FrameType.BodyStop, bodyId, WIRE_ERRORS[code].code);
      return { errorName: code, field: 'bodyLength' };
    }
    const body = new IncomingBody(bodyId, bodyLength, this.limits.windowBytes, this);
    this.incoming.set(bodyId, body);
    return body;
  }

  onFrame(type: number, payload: Buffer): BodyFault | null {
    if (payload.length < CHUNK_HEAD_BYTES) return { errorName: 'MALFORMED', field: 'body' };
    const id = payload.readUInt32LE(0);
    if (type === FrameType.BodyChunk) return this.onChunk(id, payload);
    const isOutgoing = type === FrameType.BodyCredit || type === FrameType.BodyStop;
    const bytes = type === FrameType.BodyCredit ? 8 : 6;
    if (payload.length !== bytes || id > (isOutgoing ? this.lastOutgoingId : this.lastIncomingId))
      return { errorName: 'MALFORMED', field: 'body' };
    if (type === FrameType.BodyCredit) this.onCredit(id, payload.readUInt32LE(4));
    else if (type === FrameType.BodyStop) this.onStop(id, payload.readUInt16LE(4));
    else this.fail(id, new BodyBrokenError('aborted by its sender', payload.readUInt16LE(4)));
    return null;
  }

  /** Grants credit to the sender of a body. */
  credit(bodyId: number, bytes: number): void {
    const payload = Buffer.alloc(8);
    payload.writeUInt32LE(bodyId, 0);
    payload.writeUInt32LE(bytes, 4);
    this.outbox.writer.writeFrame(FrameType.BodyCredit, payload);
    this.scheduleFlush();
  }

  stop(bodyId: number, code: number): void {
    this.incoming.delete(bodyId);
    this.writeCode(FrameType.BodyStop, bodyId, code);
    this.scheduleFlush();
  }

  /** The connection is closed. */
  failAll(): void {
    const error = new BodyBrokenError('the connection was closed first', 0);
    for (const body of this.incoming.values()) body.fail(error);
    for (const body of this.outgoing) body.end({ kind: 'failed', error });
    this.incoming.clear();
    this.outgoing = [];
  }

  /** A long chunk may be delivered in fragments, unless it is compressed. */
  static mayFragment(type: number, bytes: Buffer, start: number, end: number): boolean {
    return (
      type === FrameType.BodyChunk &&
      end - start >= CHUNK_HEAD_BYTES &&
      ((bytes[start + 4] as number) & COMPRESSED) === 0 // five bytes are there
    );
  }

  onFragment(part: Buffer, offset: number, payloadLen: number): BodyFault | null {
    if (offset === 0) {
      const fault = this.beginPartial(part, payloadLen);
      if (fault !== null) return fault;
    }
    const { body, last } = this.partial;
    const data = offset === 0 ? part.subarray(CHUNK_HEAD_BYTES) : part;
    if (body === null) return null;
    if (data.length > 0 && !body.push(data)) {
      this.partial = NO_PARTIAL_CHUNK;
      return this.refuse(body, 'CREDIT', 'chunk');
    }
    if (offset + part.length === payloadLen && last && this.incoming.delete(body.id)) body.complete();
    return null;
  }

  private beginPartial(head: Buffer, payloadLen: number): BodyFault | null {
    const id = head.readUInt32LE(0);
    const flags = head[4] as number; // `mayFragment` saw five bytes
    this.partial = NO_PARTIAL_CHUNK;
    if ((flags & ~LAST) !== 0) return { errorName: 'FRAME', field: 'flags' };
    const body = this.incoming.get(id);
    if (body === undefined)
      return id <= this.lastIncomingId ? null : { errorName: 'MALFORMED', field: 'bodyId' };
    const bytes = payloadLen - CHUNK_HEAD_BYTES;
    if (bytes > this.limits.chunkBytesMax) return this.refuse(body, 'MALFORMED', 'chunk');
    const last = (flags & LAST) !== 0;
    const fault = this.checkLength(body, bytes, last);
    if (fault !== null) return fault;
    this.partial = { body, last };
    return null;
  }

  private checkLength(body: IncomingBody, bytes: number, last: boolean): BodyFault | null {
    const total = body.receivedBytes + bytes;
    if (total > (body.length ?? this.limits.bodyBytesMax)) {
      body.stop(WIRE_ERRORS.PAYLOAD_TOO_LARGE.code);
      return {
        errorName: body.length === undefined ? 'PAYLOAD_TOO_LARGE' : 'MALFORMED',
        field: 'bodyLength',
      };
    }
    if (bytes === 0 && !last) return this.refuse(body, 'MALFORMED', 'chunk');
    if (last && body.length !== undefined && total !== body.length)
      return this.refuse(body, 'MALFORMED', 'bodyLength');
    return null;
  }

  private onChunk(id: number, payload: Buffer): BodyFault | null {
    const flags = payload[4] as number; // CHUNK_HEAD_BYTES are there
    if ((flags & ~(LAST | COMPRESSED)) !== 0 || (flags & COMPRESSED) === COMPRESSED)
      return { errorName: 'FRAME', field: 'flags' };
    const body = this.incoming.get(id);
    if (body === undefined)
      return id <= this.lastIncomingId ? null : { errorName: 'MALFORMED', field: 'bodyId' };
    const chunk = this.decodeChunk(flags, payload);
    if (chunk === null) return this.refuse(body, 'MALFORMED', 'chunk');
    const last = (flags & LAST) !== 0;
    const fault = this.checkLength(body, chunk.length, last);
    if (fault !== null) return fault;
    if (chunk.length > 0 && !body.push(chunk)) return this.refuse(body, 'CREDIT', 'chunk');
    if (last && this.incoming.delete(id)) body.complete();
    return null;
  }

  private decodeChunk(flags: number, payload: Buffer): Buffer | null {
    const method = (flags & COMPRESSED) >> 4;
    const data = payload.subarray(CHUNK_HEAD_BYTES);
    if (method === 0) return data.length > this.limits.chunkBytesMax ? null : data;
    if (data.length < 4) return null;
    const packed = {
      compression: method === 1 ? 'gzip' : 'brotli',
      rawLen: data.readUInt32LE(0),
      body: data.subarray(4),
    } as const;
    try {
      return decompressBody(packed, this.limits.chunkBytesMax) as Buffer; // zlib gives Buffers
    } catch (error) {
      if (error instanceof TransportError) return null;
      throw error;
    }
  }

  private refuse(body: IncomingBody, errorName: WireErrorName, field: string): BodyFault {
    body.stop(WIRE_ERRORS[errorName].code);
    return { errorName, field };
  }

  private onCredit(id: number, bytes: number): void {
    this.outgoing.find((body) => body.id === id)?.grant(bytes);
    this.scheduleFlush();
  }

  private onStop(id: number, code: number): void {
    const body = this.outgoing.find((one) => one.id === id);
    if (body === undefined) return;
    this.outgoing = this.outgoing.filter((one) => one !== body);
    body.end({ kind: 'stopped', code });
  }

  private fail(id: number, error: BodyBrokenError): void {
    const body = this.incoming.get(id);
    this.incoming.delete(id);
    body?.fail(error);
  }

  private writeCode(type: number, bodyId: number, code: number): void {
    const payload = Buffer.alloc(6);
    payload.writeUInt32LE(bodyId, 0);
    payload.writeUInt16LE(code, 4);
    this.outbox.writer.writeFrame(type, payload);
  }
}
