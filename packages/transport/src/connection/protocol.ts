// Hot path: onFrame for messages of the application.
import type { TransportLimits } from '../access/limits.js';
import { FrameDecoder, type FrameSink, type FrameViolation } from '../frame/frame-decoder.js';
import { FrameType, isHello, isMessage } from '../frame/frame-type.js';
import type { FrameWriter } from '../frame/frame-writer.js';
import { type FrameHeader, NO_HEADER } from '../frame/header.js';
import { isHeaderFault, readHeader } from '../frame/header-reader.js';
import type { HandshakeResult, Step } from '../handshake/session.js';
import {
  decodeAnswer,
  encodeAnswer,
  type PeerError,
  WIRE_ERRORS,
  type WireErrorDetail,
  type WireErrorName,
} from './answer.js';
import { Bodies } from './bodies.js';
import type { CloseReason } from './close-reason.js';
import { ReceivedFrame } from './frame.js';
import type { IncomingBody } from './incoming-body.js';
import type { Liveness } from './liveness.js';
import { Strikes } from './strikes.js';

export type ProtocolState = 'handshake' | 'ready' | 'draining' | 'over';

/** Either half of a handshake, seen from the protocol. */
export interface Handshake {
  /** At a listener: the peer has shown that it speaks the full dialect. A dialer always talks to one that does. */
  readonly sawHello: boolean;
  take(type: number, payload: Buffer): Step;
}

export interface ProtocolEvents {
  onReady(session: HandshakeResult): void;
  onFrame(frame: ReceivedFrame): void;
  onPeerError(error: PeerError): void;
  onGoodbye(graceMs: number): void;
  /** Last. `farewell`: 'close' sends what is written first, 'destroy' does not. */
  onOver(reason: CloseReason, farewell: 'close' | 'destroy'): void;
}

export interface ProtocolParts {
  readonly limits: TransportLimits;
  readonly handshake: Handshake;
  readonly writer: FrameWriter;
  readonly bodies: Bodies;
  readonly liveness: Liveness;
  readonly events: ProtocolEvents;
  /** Says no to a message before the application sees it: rate and authorisation. */
  readonly gate: ((frame: ReceivedFrame, now: number) => WireErrorName | null) | null;
  readonly side: 'listener' | 'dialer';
}

const PING_BYTES = 8;
const SUPPORTED_PAYLOAD_MIN = 4096;

/** One connection as a machine: bytes and times in, events and bytes (in the writer) out. It owns no socket and no clock. */
export class Protocol implements FrameSink {
  readonly decoder: FrameDecoder;
  readonly #parts: ProtocolParts;
  readonly #strikes = new Strikes();
  #state: ProtocolState = 'handshake';
  #session: HandshakeResult | null = null;
  #minimal = false;
  #now = 0;
  #pings = 0;

  constructor(parts: ProtocolParts) {
    this.#parts = parts;
    this.decoder = new FrameDecoder(this, parts.limits.prePayloadBytesMax);
    if (parts.side === 'listener') this.decoder.accepts = isHello;
  }

  get state(): ProtocolState {
    return this.#state;
  }

  get session(): HandshakeResult | null {
    return this.#session;
  }

  receive(chunk: Buffer, now: number): void {
    if (this.#state === 'over') return;
    this.#now = now;
    this.#parts.liveness.heard(now);
    const before = this.decoder.completed;
    const wasInside = this.decoder.insideFrame;
    const violation = this.decoder.push(chunk);
    this.#afterBytes(violation, !wasInside || this.decoder.completed !== before, now);
  }

  /** Goes on with frames that were held back. */
  resume(now: number): void {
    if (this.#state === 'over') return;
    this.#now = now;
    this.#parts.liveness.resumed(now);
    this.#afterBytes(this.decoder.resume(), true, now);
  }

  /** The peer's stream has ended. */
  end(): void {
    this.#over({ kind: 'peer-closed', midFrame: this.decoder.insideFrame }, 'close');
  }

  /** Does what is due by now: Ping, or the end. */
  tick(now: number): void {
    if (this.#state === 'over') return;
    this.#now = now;
    const { liveness } = this.#parts;
    const { insideFrame, declaredBytes, receivedBytes } = this.decoder;
    const verdict = liveness.verdict(now, { inside: insideFrame, declaredBytes, receivedBytes });
    switch (verdict) {
      case 'alive':
        return;
      case 'ping':
        return this.#ping();
      case 'SLOW_READER':
        return this.#over({ kind: 'slow-reader' }, 'destroy');
      case 'AUTH_TIMEOUT':
        if (!this.#parts.handshake.sawHello)
          return this.#over({ kind: 'unknown-protocol', cause: 'no Hello in time' }, 'destroy');
        return this.refuse('AUTH_TIMEOUT', 'no Welcome in time');
      case 'SLOW_FRAME':
        return this.refuse(verdict, `${receivedBytes} of ${declaredBytes} bytes`);
      case 'STALE':
        return this.refuse(verdict, 'nothing heard');
      default:
        return verdict satisfies never;
    }
  }

  /** Answers the peer. What ends the connection by its nature, or by being one too many, ends it. */
  answer(name: WireErrorName, detail: WireErrorDetail = {}): void {
    if (this.#state === 'over') return;
    const ends = WIRE_ERRORS[name].ends || this.#strikes.add(name, this.#now);
    if (ends) return this.refuse(name, detail.field ?? 'too many of these', detail);
    if (!this.#minimal) this.#parts.writer.frame(FrameType.Error, encodeAnswer(name, detail));
  }

  /** Tells the peer why and ends. */
  refuse(name: WireErrorName, cause: string, detail: WireErrorDetail = {}): void {
    if (this.#state === 'over') return;
    const told = !this.#minimal && this.#parts.handshake.sawHello;
    if (told) this.#parts.writer.frame(FrameType.Error, encodeAnswer(name, { ...detail, ends: true }));
    this.#over({ kind: 'refused', errorName: name, cause }, told ? 'close' : 'destroy');
  }

  goodbye(graceMs: number): void {
    if (this.#state !== 'ready') return;
    this.#state = 'draining';
    if (this.#minimal) return;
    const payload = Buffer.alloc(6);
    payload.writeUInt16LE(WIRE_ERRORS.DRAINING.code, 0);
    payload.writeUInt32LE(graceMs, 2);
    this.#parts.writer.frame(FrameType.Drain, payload);
  }

  close(reason: CloseReason, farewell: 'close' | 'destroy'): void {
    this.#over(reason, farewell);
  }

  onFrame(type: number, bytes: Buffer, start: number, end: number): void {
    if (this.#state === 'over') return;
    if (this.#state === 'handshake') return this.#onHandshake(type, bytes.subarray(start, end));
    if (!isMessage(type)) return this.#onControl(type, bytes.subarray(start, end));
    if (this.#minimal)
      return this.#deliver(new ReceivedFrame(type, NO_HEADER, bytes.subarray(start, end), null));
    const bodyAt = end - start < 2 ? end + 1 : start + 2 + bytes.readUInt16LE(start);
    if (bodyAt > end) return this.answer('MALFORMED', { field: 'headerLen' });
    const header = readHeader(bytes, start + 2, bodyAt);
    if (isHeaderFault(header)) return this.answer(header.answer, { field: header.field });
    const incoming = header.bodyId === undefined ? null : this.#accept(header, end - bodyAt);
    if (incoming !== undefined)
      this.#deliver(new ReceivedFrame(type, header, bytes.subarray(bodyAt, end), incoming));
  }

  onFragment(bytes: Buffer, start: number, end: number, offset: number, payloadLen: number): void {
    if (this.#state === 'over') return;
    const fault = this.#parts.bodies.onFragment(bytes.subarray(start, end), offset, payloadLen);
    if (fault !== null) this.answer(fault.answer, { field: fault.field });
  }

  #deliver(frame: ReceivedFrame): void {
    const refusal = this.#refusalOf(frame);
    if (refusal === null) return this.#parts.events.onFrame(frame);
    frame.incoming?.stop(WIRE_ERRORS[refusal].code);
    this.answer(refusal, { corrId: frame.header.msgId });
  }

  #refusalOf(frame: ReceivedFrame): WireErrorName | null {
    // A minimal client would not hear the answer: its job is taken as long as the connection is.
    if (this.#state === 'draining' && frame.type === FrameType.SubmitJob && !this.#minimal) return 'DRAINING';
    return this.#parts.gate === null ? null : this.#parts.gate(frame, this.#now);
  }

  #accept(header: FrameHeader, inlineBytes: number): IncomingBody | undefined {
    const body = this.#parts.bodies.accept(header, inlineBytes);
    if (!('answer' in body)) return body;
    this.answer(body.answer, { field: body.field, corrId: header.msgId });
    return undefined;
  }

  #onHandshake(type: number, payload: Buffer): void {
    const error = this.#parts.side === 'dialer' && type === FrameType.Error ? decodeAnswer(payload) : null;
    if (error !== null) return this.#over({ kind: 'peer-error', error }, 'close');
    const step = this.#parts.handshake.take(type, payload);
    switch (step.kind) {
      case 'reply':
        this.decoder.accepts = null;
        return this.#parts.writer.frame(step.type, step.payload);
      case 'ready':
        return this.#ready(step.session, step.welcome);
      case 'refuse':
        return this.refuse(step.answer, step.cause);
      case 'drop':
        return this.#over({ kind: 'unknown-protocol', cause: step.cause }, 'destroy');
      default:
        return step satisfies never;
    }
  }

  #ready(session: HandshakeResult, welcome: Uint8Array | null): void {
    const { limits, liveness, writer, events } = this.#parts;
    this.#session = session;
    this.#minimal = session.dialect === 'minimal';
    this.#state = 'ready';
    this.decoder.accepts = null;
    this.decoder.payloadMax = this.#minimal ? limits.minimalPayloadBytesMax : limits.payloadBytesMax;
    if (!this.#minimal) this.decoder.fragments = Bodies.mayFragment;
    liveness.ready(this.#minimal ? null : { pingMs: session.pingMs, deadMs: session.deadMs });
    if (welcome !== null) writer.frame(FrameType.Welcome, welcome);
    if (!this.#minimal && session.peerCapacity.payloadBytesMax < SUPPORTED_PAYLOAD_MIN)
      return this.refuse('PROTOCOL', 'frameMax too small');
    events.onReady(session);
  }

  #onControl(type: number, payload: Buffer): void {
    if (isHello(type) || (type >= FrameType.Challenge && type <= FrameType.Welcome)) {
      return this.refuse('PROTOCOL', `handshake frame ${type} after the handshake`);
    }
    if (this.#minimal) return;
    switch (type) {
      case FrameType.Ping:
        if (payload.length !== PING_BYTES) return this.answer('MALFORMED', { field: 'ping' });
        return this.#parts.writer.frame(FrameType.Pong, payload);
      case FrameType.Pong:
        return;
      case FrameType.Error:
        return this.#onError(decodeAnswer(payload));
      case FrameType.Drain:
        if (payload.length !== 6) return this.answer('MALFORMED', { field: 'drain' });
        return this.#parts.events.onGoodbye(payload.readUInt32LE(2));
      case FrameType.BodyChunk:
      case FrameType.BodyCredit:
      case FrameType.BodyAbort:
      case FrameType.BodyStop: {
        const fault = this.#parts.bodies.onFrame(type, payload);
        return fault === null ? undefined : this.answer(fault.answer, { field: fault.field });
      }
      default:
        return this.answer('UNKNOWN_TYPE');
    }
  }

  #onError(error: PeerError | null): void {
    if (error === null) return this.answer('MALFORMED', { field: 'error' });
    if (error.ends) return this.#over({ kind: 'peer-error', error }, 'close');
    this.#parts.events.onPeerError(error);
  }

  #afterBytes(violation: FrameViolation | null, fresh: boolean, now: number): void {
    if (violation !== null) return this.#onViolation(violation);
    const { liveness } = this.#parts;
    if (!this.decoder.insideFrame) liveness.frameSince(Number.POSITIVE_INFINITY);
    else if (fresh) liveness.frameSince(now);
  }

  #onViolation(violation: FrameViolation): void {
    if (this.#state !== 'handshake') return this.refuse('FRAME', violation);
    if (this.#parts.handshake.sawHello) return this.refuse('PROTOCOL', violation);
    this.#over({ kind: 'unknown-protocol', cause: violation }, 'destroy');
  }

  #ping(): void {
    this.#pings += 1;
    const payload = Buffer.alloc(PING_BYTES);
    payload.writeUInt32LE(this.#pings, 0);
    this.#parts.writer.frame(FrameType.Ping, payload);
    this.#parts.liveness.pinged(this.#now);
  }

  #over(reason: CloseReason, farewell: 'close' | 'destroy'): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.decoder.halt();
    this.#parts.bodies.end();
    this.#parts.events.onOver(reason, farewell);
  }
}
