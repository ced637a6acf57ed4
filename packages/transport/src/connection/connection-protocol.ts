// Hot path: onFrame for messages of the application.
import type { TransportLimits } from '../access/transport-limits.js';
import { BodyStreams } from '../body/body-streams.js';
import type { IncomingBody } from '../body/incoming-body.js';
import { FrameDecoder, type FrameSink, type FrameViolation } from '../frame/frame-decoder.js';
import { type FrameHeader, NO_HEADER } from '../frame/frame-header.js';
import { FrameType, isApplicationType, isHello } from '../frame/frame-type.js';
import type { FrameWriter } from '../frame/frame-writer.js';
import { isHeaderFault, readHeader } from '../frame/header-reader.js';
import type { HandshakeResult } from '../handshake/handshake-result.js';
import type { HandshakeStep } from '../handshake/handshake-step.js';
import type { CloseReason } from './close-reason.js';
import { ErrorQuota } from './error-quota.js';
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

export type ProtocolState = 'handshake' | 'ready' | 'draining' | 'closed';

/** 'close': the outbox is written first; 'destroy': it is dropped. */
export type CloseMode = 'close' | 'destroy';

/** Either half of the handshake. */
export interface Handshake {
  /** The peer is known to use the full dialect, so it can be sent an Error. Always true at a dialer. */
  readonly helloSeen: boolean;
  receive(type: number, payload: Buffer): HandshakeStep;
}

export interface ProtocolEvents {
  onReady(result: HandshakeResult): void;
  onFrame(frame: ReceivedFrame): void;
  onPeerError(error: PeerError): void;
  onPeerDraining(graceMs: number): void;
  /** The last event. */
  onClosing(reason: CloseReason, mode: CloseMode): void;
}

export interface ProtocolOptions {
  readonly limits: TransportLimits;
  readonly handshake: Handshake;
  readonly writer: FrameWriter;
  readonly bodies: BodyStreams;
  readonly liveness: Liveness;
  readonly events: ProtocolEvents;
  readonly side: 'listener' | 'dialer';
}

const PING_BYTES = 8;
const PEER_PAYLOAD_BYTES_MIN = 4096;

/** A sans-I/O state machine: bytes and times in, events and frames out. Driven by `Connection`. */
export class ConnectionProtocol implements FrameSink {
  readonly decoder: FrameDecoder;
  private readonly options: ProtocolOptions;
  private readonly errorQuota = new ErrorQuota();
  private current: ProtocolState = 'handshake';
  private minimal = false;
  /** Written when the time of the handshake is over; frames of the peer are ignored until then. */
  private delayedRefusal: (HandshakeStep & { readonly kind: 'refuse' }) | null = null;
  private now = 0;
  private pings = 0;

  constructor(options: ProtocolOptions) {
    this.options = options;
    this.decoder = new FrameDecoder(this, options.limits.handshakePayloadBytesMax);
    if (options.side === 'listener') this.decoder.acceptsType = isHello;
  }

  get state(): ProtocolState {
    return this.current;
  }

  receive(chunk: Buffer, now: number): void {
    if (this.current === 'closed') return;
    this.now = now;
    this.options.liveness.bytesReceived(now);
    const before = this.decoder.framesDecoded;
    const wasInside = this.decoder.insideFrame;
    const violation = this.decoder.push(chunk);
    this.afterReceive(violation, !wasInside || this.decoder.framesDecoded !== before, now);
  }

  /** Delivers the frames that were held while reading was paused. */
  resume(now: number): void {
    if (this.current === 'closed') return;
    this.now = now;
    this.options.liveness.readingResumed(now);
    this.afterReceive(this.decoder.resume(), true, now);
  }

  /** The peer's stream has ended. */
  peerEnded(): void {
    this.close({ kind: 'peer-closed', midFrame: this.decoder.insideFrame }, 'close');
  }

  /** Handles the deadlines that have passed: a Ping, or the end. */
  tick(now: number): void {
    if (this.current === 'closed') return;
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
        return this.close({ kind: 'slow-reader' }, 'destroy');
      case 'AUTH_TIMEOUT':
        if (this.delayedRefusal !== null)
          return this.refuse(this.delayedRefusal.errorName, this.delayedRefusal.cause);
        if (!this.options.handshake.helloSeen)
          return this.close({ kind: 'unknown-protocol', cause: 'no Hello in time' }, 'destroy');
        return this.refuse('AUTH_TIMEOUT', 'no Welcome in time');
      case 'SLOW_FRAME':
        return this.refuse(verdict, `${receivedBytes} of ${declaredBytes} bytes`);
      case 'STALE':
        return this.refuse(verdict, 'no bytes from the peer');
      default:
        return verdict satisfies never;
    }
  }

  /** Writes an Error frame; ends the connection where the error does, or where there are too many of them. */
  writeError(name: WireErrorName, detail: WireErrorDetail = {}): void {
    if (this.current === 'closed') return;
    const isLast = WIRE_ERRORS[name].endsConnection || this.errorQuota.exceeds(name, this.now);
    if (isLast) return this.refuse(name, detail.field ?? 'too many of these errors', detail);
    if (!this.minimal) this.options.writer.writeFrame(FrameType.Error, encodeWireError(name, detail));
  }

  /** Writes an Error frame where the peer can read one, and ends the connection. */
  refuse(name: WireErrorName, cause: string, detail: WireErrorDetail = {}): void {
    if (this.current === 'closed') return;
    const readsErrors = !this.minimal && this.options.handshake.helloSeen;
    if (readsErrors)
      this.options.writer.writeFrame(
        FrameType.Error,
        encodeWireError(name, { ...detail, endsConnection: true }),
      );
    this.close({ kind: 'refused', errorName: name, cause }, readsErrors ? 'close' : 'destroy');
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

  close(reason: CloseReason, mode: CloseMode): void {
    if (this.current === 'closed') return;
    this.current = 'closed';
    this.decoder.halt();
    this.options.bodies.failAll();
    this.options.events.onClosing(reason, mode);
  }

  onFrame(type: number, bytes: Buffer, start: number, end: number): void {
    if (this.current === 'closed') return;
    if (this.current === 'handshake') return this.onHandshakeFrame(type, bytes.subarray(start, end));
    if (!isApplicationType(type)) return this.onControlFrame(type, bytes.subarray(start, end));
    if (this.minimal)
      return this.deliver(new ReceivedFrame(type, NO_HEADER, bytes.subarray(start, end), null));
    const bodyAt = end - start < 2 ? end + 1 : start + 2 + bytes.readUInt16LE(start);
    if (bodyAt > end) return this.writeError('MALFORMED', { field: 'headerLen' });
    const header = readHeader(bytes, start + 2, bodyAt);
    if (isHeaderFault(header)) return this.writeError(header.errorName, { field: header.field });
    if ((header.rawLen ?? 0) > this.options.limits.expandedBytesMax)
      return this.refuse('PAYLOAD_TOO_LARGE', 'rawLen', { field: 'rawLen', corrId: header.msgId });
    const incoming = header.bodyId === undefined ? null : this.acceptBody(header, end - bodyAt);
    if (incoming !== undefined)
      this.deliver(new ReceivedFrame(type, header, bytes.subarray(bodyAt, end), incoming));
  }

  onFragment(bytes: Buffer, start: number, end: number, offset: number, payloadLen: number): void {
    if (this.current === 'closed') return;
    const fault = this.options.bodies.onFragment(bytes.subarray(start, end), offset, payloadLen);
    if (fault !== null) this.writeError(fault.errorName, { field: fault.field });
  }

  private deliver(frame: ReceivedFrame): void {
    // A minimal client cannot read the error: its jobs are taken as long as the connection is open.
    const isLate = this.current === 'draining' && frame.type === FrameType.SubmitJob && !this.minimal;
    if (!isLate) return this.options.events.onFrame(frame);
    frame.incoming?.stop(WIRE_ERRORS.DRAINING.code);
    this.writeError('DRAINING', { corrId: frame.header.msgId });
  }

  private acceptBody(header: FrameHeader, inlineBytes: number): IncomingBody | undefined {
    const body = this.options.bodies.accept(header, inlineBytes);
    if (!('errorName' in body)) return body;
    this.writeError(body.errorName, { field: body.field, corrId: header.msgId });
    return undefined;
  }

  private onHandshakeFrame(type: number, payload: Buffer): void {
    if (this.delayedRefusal !== null) return;
    const error =
      this.options.side === 'dialer' && type === FrameType.Error ? decodeWireError(payload) : null;
    if (error !== null) return this.close({ kind: 'peer-error', error }, 'close');
    const step = this.options.handshake.receive(type, payload);
    switch (step.kind) {
      case 'reply':
        this.decoder.acceptsType = null;
        return this.options.writer.writeFrame(step.type, step.payload);
      case 'ready':
        return this.becomeReady(step.result, step.welcome);
      case 'refuse':
        if (step.isDelayed !== true) return this.refuse(step.errorName, step.cause);
        this.delayedRefusal = step;
        return;
      case 'drop':
        return this.close({ kind: 'unknown-protocol', cause: step.cause }, 'destroy');
      default:
        return step satisfies never;
    }
  }

  private becomeReady(result: HandshakeResult, welcome: Uint8Array | null): void {
    const { limits, liveness, writer, events } = this.options;
    this.minimal = result.dialect === 'minimal';
    this.current = 'ready';
    this.decoder.acceptsType = null;
    this.decoder.payloadBytesMax = this.minimal ? limits.minimalPayloadBytesMax : limits.payloadBytesMax;
    if (!this.minimal) this.decoder.wantsFragments = BodyStreams.mayFragment;
    liveness.ready(this.minimal ? null : { pingMs: result.pingMs, deadMs: result.deadMs });
    if (welcome !== null) writer.writeFrame(FrameType.Welcome, welcome);
    if (!this.minimal && result.peerCapacity.payloadBytesMax < PEER_PAYLOAD_BYTES_MIN)
      return this.refuse('PROTOCOL', 'frameMax too small');
    events.onReady(result);
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
    if (error.endsConnection) return this.close({ kind: 'peer-error', error }, 'close');
    this.options.events.onPeerError(error);
  }

  private afterReceive(violation: FrameViolation | null, isNewFrame: boolean, now: number): void {
    if (violation !== null) return this.onViolation(violation);
    const { liveness } = this.options;
    if (!this.decoder.insideFrame) liveness.frameEnded();
    else if (isNewFrame) liveness.frameStarted(now);
  }

  private onViolation(violation: FrameViolation): void {
    if (this.current !== 'handshake') return this.refuse('FRAME', violation);
    if (this.options.handshake.helloSeen) return this.refuse('PROTOCOL', violation);
    this.close({ kind: 'unknown-protocol', cause: violation }, 'destroy');
  }

  private writePing(): void {
    this.pings += 1;
    const payload = Buffer.alloc(PING_BYTES);
    payload.writeUInt32LE(this.pings, 0);
    this.options.writer.writeFrame(FrameType.Ping, payload);
    this.options.liveness.pingWritten(this.now);
  }
}
