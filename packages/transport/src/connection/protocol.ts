// Hot path: onFrame for messages of the application.
import type { TransportLimits } from '../access/transport-limits.js';
import { FrameDecoder, type FrameSink, type FrameViolation } from '../frame/frame-decoder.js';
import { FrameType, isApplicationType, isHello } from '../frame/frame-type.js';
import type { FrameWriter } from '../frame/frame-writer.js';
import { type FrameHeader, NO_HEADER } from '../frame/header.js';
import { isHeaderFault, readHeader } from '../frame/header-reader.js';
import type { HandshakeResult, HandshakeStep } from '../handshake/handshake-result.js';
import { BodyStreams } from './body-streams.js';
import type { CloseReason } from './close-reason.js';
import { ErrorQuota } from './error-quota.js';
import type { IncomingBody } from './incoming-body.js';
import type { Liveness } from './liveness.js';
import { ReceivedFrame } from './received-frame.js';
import {
  decodeWireError,
  encodeWireError,
  type PeerError,
  WIRE_ERRORS,
  type WireErrorDetail,
  type WireErrorName,
} from './wire-error.js';

export type ProtocolState = 'handshake' | 'ready' | 'draining' | 'over';

/** Either half of a handshake, seen from the protocol. */
export interface Handshake {
  /** At a listener: the peer has shown that it speaks the full dialect. A dialer always talks to one that does. */
  readonly helloSeen: boolean;
  receive(type: number, payload: Buffer): HandshakeStep;
}

export interface ProtocolEvents {
  onReady(session: HandshakeResult): void;
  onFrame(frame: ReceivedFrame): void;
  onPeerError(error: PeerError): void;
  onPeerDraining(graceMs: number): void;
  /** Last. `farewell`: 'close' sends what is written first, 'destroy' does not. */
  onClosing(reason: CloseReason, farewell: 'close' | 'destroy'): void;
}

export interface ProtocolOptions {
  readonly limits: TransportLimits;
  readonly handshake: Handshake;
  readonly writer: FrameWriter;
  readonly bodies: BodyStreams;
  readonly liveness: Liveness;
  readonly events: ProtocolEvents;
  /** Says no to a message before the application sees it: rate and authorisation. */
  readonly checkFrame: ((frame: ReceivedFrame, now: number) => WireErrorName | null) | null;
  readonly side: 'listener' | 'dialer';
}

const PING_BYTES = 8;
const SUPPORTED_PAYLOAD_MIN = 4096;

/** One connection as a machine: bytes and times in, events and bytes (in the writer) out. It owns no socket and no clock. */
export class Protocol implements FrameSink {
  readonly decoder: FrameDecoder;
  private readonly options: ProtocolOptions;
  private readonly errorQuota = new ErrorQuota();
  private current: ProtocolState = 'handshake';
  private result: HandshakeResult | null = null;
  private minimal = false;
  private now = 0;
  private pings = 0;

  constructor(parts: ProtocolOptions) {
    this.options = parts;
    this.decoder = new FrameDecoder(this, parts.limits.prePayloadBytesMax);
    if (parts.side === 'listener') this.decoder.acceptsType = isHello;
  }

  get state(): ProtocolState {
    return this.current;
  }

  get session(): HandshakeResult | null {
    return this.result;
  }

  receive(chunk: Buffer, now: number): void {
    if (this.current === 'over') return;
    this.now = now;
    this.options.liveness.bytesReceived(now);
    const before = this.decoder.framesDecoded;
    const wasInside = this.decoder.insideFrame;
    const violation = this.decoder.push(chunk);
    this.afterReceive(violation, !wasInside || this.decoder.framesDecoded !== before, now);
  }

  /** Goes on with frames that were held back. */
  resume(now: number): void {
    if (this.current === 'over') return;
    this.now = now;
    this.options.liveness.readingResumed(now);
    this.afterReceive(this.decoder.resume(), true, now);
  }

  /** The peer's stream has ended. */
  peerEnded(): void {
    this.finish({ kind: 'peer-closed', midFrame: this.decoder.insideFrame }, 'close');
  }

  /** Does what is due by now: Ping, or the end. */
  tick(now: number): void {
    if (this.current === 'over') return;
    this.now = now;
    const { liveness } = this.options;
    const { insideFrame, declaredBytes, receivedBytes } = this.decoder;
    const verdict = liveness.check(now, { inside: insideFrame, declaredBytes, receivedBytes });
    switch (verdict) {
      case 'alive':
        return;
      case 'ping':
        return this.writePing();
      case 'SLOW_READER':
        return this.finish({ kind: 'slow-reader' }, 'destroy');
      case 'AUTH_TIMEOUT':
        if (!this.options.handshake.helloSeen)
          return this.finish({ kind: 'unknown-protocol', cause: 'no Hello in time' }, 'destroy');
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
  writeError(name: WireErrorName, detail: WireErrorDetail = {}): void {
    if (this.current === 'over') return;
    const ends = WIRE_ERRORS[name].endsConnection || this.errorQuota.exceeds(name, this.now);
    if (ends) return this.refuse(name, detail.field ?? 'too many of these', detail);
    if (!this.minimal) this.options.writer.writeFrame(FrameType.Error, encodeWireError(name, detail));
  }

  /** Tells the peer why and ends. */
  refuse(name: WireErrorName, cause: string, detail: WireErrorDetail = {}): void {
    if (this.current === 'over') return;
    const told = !this.minimal && this.options.handshake.helloSeen;
    if (told)
      this.options.writer.writeFrame(FrameType.Error, encodeWireError(name, { ...detail, ends: true }));
    this.finish({ kind: 'refused', errorName: name, cause }, told ? 'close' : 'destroy');
  }

  drain(graceMs: number): void {
    if (this.current !== 'ready') return;
    this.current = 'draining';
    if (this.minimal) return;
    const payload = Buffer.alloc(6);
    payload.writeUInt16LE(WIRE_ERRORS.DRAINING.code, 0);
    payload.writeUInt32LE(graceMs, 2);
    this.options.writer.writeFrame(FrameType.Drain, payload);
  }

  close(reason: CloseReason, farewell: 'close' | 'destroy'): void {
    this.finish(reason, farewell);
  }

  onFrame(type: number, bytes: Buffer, start: number, end: number): void {
    if (this.current === 'over') return;
    if (this.current === 'handshake') return this.onHandshakeFrame(type, bytes.subarray(start, end));
    if (!isApplicationType(type)) return this.onControlFrame(type, bytes.subarray(start, end));
    if (this.minimal)
      return this.deliver(new ReceivedFrame(type, NO_HEADER, bytes.subarray(start, end), null));
    const bodyAt = end - start < 2 ? end + 1 : start + 2 + bytes.readUInt16LE(start);
    if (bodyAt > end) return this.writeError('MALFORMED', { field: 'headerLen' });
    const header = readHeader(bytes, start + 2, bodyAt);
    if (isHeaderFault(header)) return this.writeError(header.errorName, { field: header.field });
    const incoming = header.bodyId === undefined ? null : this.acceptBody(header, end - bodyAt);
    if (incoming !== undefined)
      this.deliver(new ReceivedFrame(type, header, bytes.subarray(bodyAt, end), incoming));
  }

  onFragment(bytes: Buffer, start: number, end: number, offset: number, payloadLen: number): void {
    if (this.current === 'over') return;
    const fault = this.options.bodies.onFragment(bytes.subarray(start, end), offset, payloadLen);
    if (fault !== null) this.writeError(fault.errorName, { field: fault.field });
  }

  private deliver(frame: ReceivedFrame): void {
    const refusal = this.checkPermission(frame);
    if (refusal === null) return this.options.events.onFrame(frame);
    frame.incoming?.stop(WIRE_ERRORS[refusal].code);
    this.writeError(refusal, { corrId: frame.header.msgId });
  }

  private checkPermission(frame: ReceivedFrame): WireErrorName | null {
    // A minimal client would not hear the answer: its job is taken as long as the connection is.
    if (this.current === 'draining' && frame.type === FrameType.SubmitJob && !this.minimal) return 'DRAINING';
    return this.options.checkFrame === null ? null : this.options.checkFrame(frame, this.now);
  }

  private acceptBody(header: FrameHeader, inlineBytes: number): IncomingBody | undefined {
    const body = this.options.bodies.accept(header, inlineBytes);
    if (!('errorName' in body)) return body;
    this.writeError(body.errorName, { field: body.field, corrId: header.msgId });
    return undefined;
  }

  private onHandshakeFrame(type: number, payload: Buffer): void {
    const error =
      this.options.side === 'dialer' && type === FrameType.Error ? decodeWireError(payload) : null;
    if (error !== null) return this.finish({ kind: 'peer-error', error }, 'close');
    const step = this.options.handshake.receive(type, payload);
    switch (step.kind) {
      case 'reply':
        this.decoder.acceptsType = null;
        return this.options.writer.writeFrame(step.type, step.payload);
      case 'ready':
        return this.becomeReady(step.session, step.welcome);
      case 'refuse':
        return this.refuse(step.errorName, step.cause);
      case 'drop':
        return this.finish({ kind: 'unknown-protocol', cause: step.cause }, 'destroy');
      default:
        return step satisfies never;
    }
  }

  private becomeReady(session: HandshakeResult, welcome: Uint8Array | null): void {
    const { limits, liveness, writer, events } = this.options;
    this.result = session;
    this.minimal = session.dialect === 'minimal';
    this.current = 'ready';
    this.decoder.acceptsType = null;
    this.decoder.payloadBytesMax = this.minimal ? limits.minimalPayloadBytesMax : limits.payloadBytesMax;
    if (!this.minimal) this.decoder.wantsFragments = BodyStreams.mayFragment;
    liveness.ready(this.minimal ? null : { pingMs: session.pingMs, deadMs: session.deadMs });
    if (welcome !== null) writer.writeFrame(FrameType.Welcome, welcome);
    if (!this.minimal && session.peerCapacity.payloadBytesMax < SUPPORTED_PAYLOAD_MIN)
      return this.refuse('PROTOCOL', 'frameMax too small');
    events.onReady(session);
  }

  private onControlFrame(type: number, payload: Buffer): void {
    if (isHello(type) || (type >= FrameType.Challenge && type <= FrameType.Welcome)) {
      return this.refuse('PROTOCOL', `handshake frame ${type} after the handshake`);
    }
    if (this.minimal) return;
    switch (type) {
      case FrameType.Ping:
        if (payload.length !== PING_BYTES) return this.writeError('MALFORMED', { field: 'ping' });
        return this.options.writer.writeFrame(FrameType.Pong, payload);
      case FrameType.Pong:
        return;
      case FrameType.Error:
        return this.onError(decodeWireError(payload));
      case FrameType.Drain:
        if (payload.length !== 6) return this.writeError('MALFORMED', { field: 'drain' });
        return this.options.events.onPeerDraining(payload.readUInt32LE(2));
      case FrameType.BodyChunk:
      case FrameType.BodyCredit:
      case FrameType.BodyAbort:
      case FrameType.BodyStop: {
        const fault = this.options.bodies.onFrame(type, payload);
        return fault === null ? undefined : this.writeError(fault.errorName, { field: fault.field });
      }
      default:
        return this.writeError('UNKNOWN_TYPE');
    }
  }

  private onError(error: PeerError | null): void {
    if (error === null) return this.writeError('MALFORMED', { field: 'error' });
    if (error.ends) return this.finish({ kind: 'peer-error', error }, 'close');
    this.options.events.onPeerError(error);
  }

  private afterReceive(violation: FrameViolation | null, fresh: boolean, now: number): void {
    if (violation !== null) return this.onViolation(violation);
    const { liveness } = this.options;
    if (!this.decoder.insideFrame) liveness.frameSince(Number.POSITIVE_INFINITY);
    else if (fresh) liveness.frameSince(now);
  }

  private onViolation(violation: FrameViolation): void {
    if (this.current !== 'handshake') return this.refuse('FRAME', violation);
    if (this.options.handshake.helloSeen) return this.refuse('PROTOCOL', violation);
    this.finish({ kind: 'unknown-protocol', cause: violation }, 'destroy');
  }

  private writePing(): void {
    this.pings += 1;
    const payload = Buffer.alloc(PING_BYTES);
    payload.writeUInt32LE(this.pings, 0);
    this.options.writer.writeFrame(FrameType.Ping, payload);
    this.options.liveness.pingWritten(this.now);
  }

  private finish(reason: CloseReason, farewell: 'close' | 'destroy'): void {
    if (this.current === 'over') return;
    this.current = 'over';
    this.decoder.halt();
    this.options.bodies.failAll();
    this.options.events.onClosing(reason, farewell);
  }
}
