import type { TransportLimits } from '../access/limits.js';
import { BodyBrokenError, TransportError } from '../errors.js';
import { decompressBody } from '../frame/compression.js';
import { FrameType } from '../frame/frame-type.js';
import type { FrameHeader } from '../frame/header.js';
import type { Capacity } from '../handshake/hello.js';
import { WIRE_ERRORS, type WireErrorName } from './answer.js';
import type { BodySource } from './body-source.js';
import { IncomingBody } from './incoming-body.js';
import type { Outbox } from './outbox.js';
import { OutgoingBody, type OutgoingBodyOptions } from './outgoing-body.js';

const CHUNK_HEAD_BYTES = 5;
const LAST = 1;
const COMPRESSED = 0x30;

/** What is wrong with a frame about a body. */
export interface BodyFault {
  readonly answer: WireErrorName;
  readonly field: string;
}

/** The chunk that is arriving in parts; no body: nobody wants the rest of it. */
interface Parts {
  readonly body: IncomingBody | null;
  readonly last: boolean;
}

const NO_PARTS: Parts = { body: null, last: false };

/** The bodies in pieces of one connection, both ways (docs/wire-protocol.md §6). */
export class Bodies {
  readonly #limits: TransportLimits;
  readonly #outbox: Outbox;
  readonly #wake: () => void;
  readonly #incoming = new Map<number, IncomingBody>();
  #outgoing: OutgoingBody[] = [];
  #turn = 0;
  #lastIn = 0;
  #lastOut = 0;
  #parts: Parts = NO_PARTS;

  constructor(limits: TransportLimits, outbox: Outbox, wake: () => void) {
    this.#limits = limits;
    this.#outbox = outbox;
    this.#wake = wake;
  }

  get outgoing(): number {
    return this.#outgoing.length;
  }

  get incoming(): number {
    return this.#incoming.size;
  }

  /** Writes the frame that announces a body; its chunks follow from `pump`. */
  send(
    type: number,
    header: FrameHeader,
    source: BodySource,
    peer: Capacity,
    options: OutgoingBodyOptions,
  ): OutgoingBody {
    this.#lastOut += 1;
    const body = new OutgoingBody(this.#lastOut, source, peer, options, this.#wake);
    this.#outbox.writer.message(
      type,
      { ...header, bodyId: body.id, bodyLength: source.length },
      new Uint8Array(0),
    );
    this.#outgoing.push(body);
    return body;
  }

  /** One chunk each in turn, while there is room, so that no body waits for another one to end. */
  pump(hasRoom: () => boolean): void {
    let idle = 0;
    while (idle < this.#outgoing.length && hasRoom()) {
      this.#turn = this.#turn % this.#outgoing.length;
      const body = this.#outgoing[this.#turn] as OutgoingBody; // turn < length
      idle = body.step(this.#outbox) ? 0 : idle + 1;
      if (body.over) this.#outgoing.splice(this.#turn, 1);
      else this.#turn += 1;
    }
  }

  /** The header of a received frame announces a body. */
  accept(header: FrameHeader, inlineBytes: number): IncomingBody | BodyFault {
    const { bodyId = 0, bodyLength } = header;
    if (bodyId <= this.#lastIn || inlineBytes > 0) return { answer: 'MALFORMED', field: 'bodyId' };
    this.#lastIn = bodyId;
    const code = this.#incoming.size >= this.#limits.bodiesMax ? 'BUSY' : 'PAYLOAD_TOO_LARGE';
    if (code === 'BUSY' || (bodyLength ?? 0) > this.#limits.bodyBytesMax) {
      this.#code(FrameType.BodyStop, bodyId, WIRE_ERRORS[code].code);
      return { answer: code, field: 'bodyLength' };
    }
    const body = new IncomingBody(bodyId, bodyLength, this.#limits.windowBytes, this);
    this.#incoming.set(bodyId, body);
    return body;
  }

  onFrame(type: number, payload: Buffer): BodyFault | null {
    if (payload.length < CHUNK_HEAD_BYTES) return { answer: 'MALFORMED', field: 'body' };
    const id = payload.readUInt32LE(0);
    if (type === FrameType.BodyChunk) return this.#onChunk(id, payload);
    const outward = type === FrameType.BodyCredit || type === FrameType.BodyStop;
    const bytes = type === FrameType.BodyCredit ? 8 : 6;
    if (payload.length !== bytes || id > (outward ? this.#lastOut : this.#lastIn))
      return { answer: 'MALFORMED', field: 'body' };
    if (type === FrameType.BodyCredit) this.#onCredit(id, payload.readUInt32LE(4));
    else if (type === FrameType.BodyStop) this.#onStop(id, payload.readUInt16LE(4));
    else this.#drop(id, new BodyBrokenError('given up by its sender', payload.readUInt16LE(4)));
    return null;
  }

  /** From a body's reader. */
  credit(bodyId: number, bytes: number): void {
    const payload = Buffer.alloc(8);
    payload.writeUInt32LE(bodyId, 0);
    payload.writeUInt32LE(bytes, 4);
    this.#outbox.writer.frame(FrameType.BodyCredit, payload);
    this.#wake();
  }

  stop(bodyId: number, code: number): void {
    this.#incoming.delete(bodyId);
    this.#code(FrameType.BodyStop, bodyId, code);
    this.#wake();
  }

  /** The connection is over. */
  end(): void {
    const error = new BodyBrokenError('the connection ended first', 0);
    for (const body of this.#incoming.values()) body.fail(error);
    for (const body of this.#outgoing) body.end({ kind: 'failed', error });
    this.#incoming.clear();
    this.#outgoing = [];
  }

  /** A long chunk may come in parts, unless it must be expanded as a whole. */
  static mayFragment(type: number, bytes: Buffer, start: number, end: number): boolean {
    return (
      type === FrameType.BodyChunk &&
      end - start >= CHUNK_HEAD_BYTES &&
      ((bytes[start + 4] as number) & COMPRESSED) === 0 // five bytes are there
    );
  }

  onFragment(part: Buffer, offset: number, payloadLen: number): BodyFault | null {
    if (offset === 0) {
      const fault = this.#beginParts(part, payloadLen);
      if (fault !== null) return fault;
    }
    const { body, last } = this.#parts;
    const data = offset === 0 ? part.subarray(CHUNK_HEAD_BYTES) : part;
    if (body === null) return null;
    if (data.length > 0 && !body.push(data)) {
      this.#parts = NO_PARTS;
      return this.#refuse(body, 'CREDIT', 'chunk');
    }
    if (offset + part.length === payloadLen && last && this.#incoming.delete(body.id)) body.complete();
    return null;
  }

  #beginParts(head: Buffer, payloadLen: number): BodyFault | null {
    const id = head.readUInt32LE(0);
    const flags = head[4] as number; // `mayFragment` saw five bytes
    this.#parts = NO_PARTS;
    if ((flags & ~LAST) !== 0) return { answer: 'FRAME', field: 'flags' };
    const body = this.#incoming.get(id);
    if (body === undefined) return id <= this.#lastIn ? null : { answer: 'MALFORMED', field: 'bodyId' };
    const bytes = payloadLen - CHUNK_HEAD_BYTES;
    if (bytes > this.#limits.chunkBytesMax) return this.#refuse(body, 'MALFORMED', 'chunk');
    const last = (flags & LAST) !== 0;
    const fault = this.#lengthFault(body, bytes, last);
    if (fault !== null) return fault;
    this.#parts = { body, last };
    return null;
  }

  #lengthFault(body: IncomingBody, bytes: number, last: boolean): BodyFault | null {
    const total = body.receivedBytes + bytes;
    if (total > (body.length ?? this.#limits.bodyBytesMax)) {
      body.stop(WIRE_ERRORS.PAYLOAD_TOO_LARGE.code);
      return { answer: body.length === undefined ? 'PAYLOAD_TOO_LARGE' : 'MALFORMED', field: 'bodyLength' };
    }
    if (bytes === 0 && !last) return this.#refuse(body, 'MALFORMED', 'chunk');
    if (last && body.length !== undefined && total !== body.length)
      return this.#refuse(body, 'MALFORMED', 'bodyLength');
    return null;
  }

  #onChunk(id: number, payload: Buffer): BodyFault | null {
    const flags = payload[4] as number; // CHUNK_HEAD_BYTES are there
    if ((flags & ~(LAST | COMPRESSED)) !== 0 || (flags & COMPRESSED) === COMPRESSED)
      return { answer: 'FRAME', field: 'flags' };
    const body = this.#incoming.get(id);
    if (body === undefined) return id <= this.#lastIn ? null : { answer: 'MALFORMED', field: 'bodyId' };
    const chunk = this.#rawChunk(flags, payload);
    if (chunk === null) return this.#refuse(body, 'MALFORMED', 'chunk');
    const last = (flags & LAST) !== 0;
    const fault = this.#lengthFault(body, chunk.length, last);
    if (fault !== null) return fault;
    if (chunk.length > 0 && !body.push(chunk)) return this.#refuse(body, 'CREDIT', 'chunk');
    if (last && this.#incoming.delete(id)) body.complete();
    return null;
  }

  #rawChunk(flags: number, payload: Buffer): Buffer | null {
    const method = (flags & COMPRESSED) >> 4;
    const data = payload.subarray(CHUNK_HEAD_BYTES);
    if (method === 0) return data.length > this.#limits.chunkBytesMax ? null : data;
    if (data.length < 4) return null;
    const packed = {
      compression: method === 1 ? 'gzip' : 'brotli',
      rawLen: data.readUInt32LE(0),
      body: data.subarray(4),
    } as const;
    try {
      return decompressBody(packed, this.#limits.chunkBytesMax) as Buffer; // zlib gives Buffers
    } catch (error) {
      if (error instanceof TransportError) return null;
      throw error;
    }
  }

  #refuse(body: IncomingBody, answer: WireErrorName, field: string): BodyFault {
    body.stop(WIRE_ERRORS[answer].code);
    return { answer, field };
  }

  #onCredit(id: number, bytes: number): void {
    this.#outgoing.find((body) => body.id === id)?.grant(bytes);
    this.#wake();
  }

  #onStop(id: number, code: number): void {
    const body = this.#outgoing.find((one) => one.id === id);
    if (body === undefined) return;
    this.#outgoing = this.#outgoing.filter((one) => one !== body);
    body.end({ kind: 'stopped', code });
  }

  #drop(id: number, error: BodyBrokenError): void {
    const body = this.#incoming.get(id);
    this.#incoming.delete(id);
    body?.fail(error);
  }

  #code(type: number, bodyId: number, code: number): void {
    const payload = Buffer.alloc(6);
    payload.writeUInt32LE(bodyId, 0);
    payload.writeUInt16LE(code, 4);
    this.#outbox.writer.frame(type, payload);
  }
}
