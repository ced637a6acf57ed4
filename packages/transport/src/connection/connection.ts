// Hot path: send and flush.
import type { Action } from '../access/identity.js';
import type { TransportLimits } from '../access/limits.js';
import { ConnectionStateError } from '../errors.js';
import { type FrameHeader, headerBytes, NO_HEADER } from '../frame/header.js';
import type { HandshakeResult } from '../handshake/session.js';
import type { Clock } from '../net/clock.js';
import type { NetSocket, SocketHandler } from '../net/net.js';
import { Alarm } from './alarm.js';
import type { PeerError, WireErrorDetail, WireErrorName } from './answer.js';
import { Bodies } from './bodies.js';
import type { BodySource } from './body-source.js';
import type { CloseReason } from './close-reason.js';
import type { ConnectionHandler, WriteRefusal, WriteResult } from './connection-handler.js';
import type { ReceivedFrame } from './frame.js';
import { BY_OUTBOX, BY_OWNER, Intake } from './intake.js';
import { Liveness } from './liveness.js';
import { Outbox } from './outbox.js';
import type { OutgoingBody, OutgoingBodyOptions } from './outgoing-body.js';
import { type Handshake, Protocol, type ProtocolEvents, type ProtocolState } from './protocol.js';

export interface ConnectionParts {
  readonly socket: NetSocket;
  readonly clock: Clock;
  readonly limits: TransportLimits;
  readonly side: 'listener' | 'dialer';
  readonly handshake: Handshake;
  readonly gate: ((frame: ReceivedFrame, now: number) => WireErrorName | null) | null;
  /** The handshake is done; the handler returned gets everything from here on. */
  readonly onReady: (connection: Connection) => ConnectionHandler;
  /** The connection is over; `handler.onClose` was told before, where there is a handler. */
  readonly onClosed: (connection: Connection, reason: CloseReason) => void;
}

/** Small frames go out with the burst they were sent in; at this size at once. */
const FLUSH_BYTES = 64 * 1024;
/** Chunks of bodies wait behind at most this much, so that a small message never waits behind more. */
const BODY_ROOM_BYTES = 256 * 1024;

/** A body this far below the peer's limit fits with any header; only others are measured. */
const HEADER_BYTES_SURE = 64 * 1024;

/** A connection: the protocol on a socket. Everything here is bounded, nothing here awaits. */
export class Connection implements SocketHandler, ProtocolEvents {
  readonly #parts: ConnectionParts;
  readonly #socket: NetSocket;
  readonly #outbox = new Outbox();
  readonly #bodies: Bodies;
  readonly #liveness: Liveness;
  readonly #protocol: Protocol;
  readonly #intake: Intake;
  readonly #alarm: Alarm;
  #handler: ConnectionHandler | null = null;
  #session: HandshakeResult | null = null;
  #armed = false;
  #inReceive = false;
  #congested = false;
  #wantsDrain = false;
  #farewell: { cancel(): void } | null = null;
  #reason: CloseReason | null = null;
  #ended = false;
  #gone = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#socket = parts.socket;
    const { limits, clock } = parts;
    this.#bodies = new Bodies(limits, this.#outbox, () => this.#arm());
    this.#liveness = new Liveness(limits, clock.now());
    this.#alarm = new Alarm(clock, () => this.#look());
    this.#intake = new Intake(limits, { shut: () => this.#shut(), open: () => this.#open() });
    this.#protocol = new Protocol({
      limits,
      handshake: parts.handshake,
      writer: this.#outbox.writer,
      bodies: this.#bodies,
      liveness: this.#liveness,
      events: this,
      gate: parts.gate,
      side: parts.side,
    });
  }

  /** Starts reading. `first` is what a dialer says first. */
  begin(first: { readonly type: number; readonly payload: Uint8Array } | null): void {
    if (first !== null) this.#outbox.writer.frame(first.type, first.payload);
    this.#socket.attach(this);
    this.#flush();
    this.#setTimer();
  }

  get state(): ProtocolState {
    return this.#protocol.state;
  }

  /** Who and what the handshake settled. Only known from `onReady` on. */
  get handshake(): HandshakeResult {
    if (this.#session === null) throw new ConnectionStateError('has no session before its handshake is done');
    return this.#session;
  }

  get remote(): string {
    return this.#socket.remote;
  }

  /** Bytes waiting to be written, the socket's share included. */
  get outboxBytes(): number {
    return this.#outbox.bytes;
  }

  get bodies(): { readonly incoming: number; readonly outgoing: number } {
    return { incoming: this.#bodies.incoming, outgoing: this.#bodies.outgoing };
  }

  /** Frames received so far, of every type. */
  get framesReceived(): number {
    return this.#protocol.decoder.completed;
  }

  /** False for an identity without a rule that allows it. A dialer has no rules about its listener: always true. */
  permits(action: Action, subject: string): boolean {
    return this.#session?.identity?.permits(action, subject) ?? this.#parts.side === 'dialer';
  }

  /** Queues one frame. A body of 16 KiB or more is not copied: do not change it afterwards. A minimal peer gets no header. */
  write(type: number, header: FrameHeader, body: Uint8Array): WriteResult {
    const session = this.#session;
    if (session === null || this.#ended || this.#reason !== null) return 'closed';
    if (this.#outbox.bytes >= this.#parts.limits.outboxBytesMax) {
      this.#wantsDrain = true;
      return 'full';
    }
    if (
      body.length + HEADER_BYTES_SURE > session.peerCapacity.payloadBytesMax &&
      !fits(header, body, session)
    )
      return 'too-large';
    if (session.dialect === 'minimal') this.#outbox.writer.frame(type, body);
    else this.#outbox.writer.message(type, header, body);
    return this.#queued();
  }

  /**
   * Queues a body in pieces. Its chunks leave between other frames, as fast as the peer grants credit; `onOutcome` tells how it ended.
   * 'full': as many bodies as `bodiesMax` are under way. A minimal peer takes none: 'too-large'.
   */
  writeBody(
    type: number,
    header: FrameHeader,
    source: BodySource,
    options: OutgoingBodyOptions = {},
  ): OutgoingBody | WriteRefusal {
    const session = this.#session;
    if (session === null || this.#ended || this.#reason !== null) return 'closed';
    if (session.dialect === 'minimal' || (source.length ?? 0) > session.peerCapacity.bodyBytesMax)
      return 'too-large';
    if (this.#bodies.outgoing >= this.#parts.limits.bodiesMax) return 'full';
    const body = this.#bodies.send(type, header, source, session.peerCapacity, options);
    this.#arm();
    return body;
  }

  /** Answers a message with an Error. Some answers end the connection, at once or when there are too many of them. */
  writeError(name: WireErrorName, detail: WireErrorDetail = {}): void {
    this.#protocol.answer(name, detail);
    this.#arm();
  }

  /** Stops reading until `resume`. At most what is already read is still held, nothing is delivered. */
  pause(): void {
    this.#intake.stop(BY_OWNER);
  }

  resume(): void {
    this.#intake.go(BY_OWNER);
  }

  /** A request was taken in and is not answered yet. Past the limits reading stops until enough are `settled`. */
  requestStarted(bytes: number): void {
    this.#intake.took(bytes);
  }

  requestEnded(bytes: number): void {
    this.#intake.settled(bytes);
  }

  /** Tells the peer that this side leaves within `graceMs`. New SubmitJob frames are answered with DRAINING from here on. */
  drain(graceMs: number): void {
    this.#protocol.goodbye(graceMs);
    this.#arm();
  }

  /** Writes what is queued, then closes; destroys after `closingMs` where the peer does not follow. */
  close(): void {
    this.#protocol.close({ kind: 'local' }, 'close');
  }

  destroy(reason: CloseReason = { kind: 'local' }): void {
    this.#protocol.close(reason, 'destroy');
  }

  // From the socket.

  onData(chunk: Buffer): void {
    this.#inReceive = true;
    this.#protocol.receive(chunk, this.#parts.clock.now());
    this.#inReceive = false;
    // What the frames of one chunk caused is one write.
    if (this.#outbox.writer.bytes > 0 || this.#bodies.outgoing > 0) this.#flush();
    if (this.#congested) this.#boundAnswers();
    else this.#ease();
    this.#setTimer();
  }

  onWritable(): void {
    this.#congested = false;
    this.#outbox.drained();
    this.#liveness.drained();
    this.#flush();
    this.#ease();
  }

  onEnd(): void {
    this.#protocol.end();
  }

  onClose(error: Error | null): void {
    this.#gone = true;
    this.#protocol.close(
      error === null
        ? { kind: 'peer-closed', midFrame: this.#protocol.decoder.insideFrame }
        : { kind: 'socket-error', error },
      'destroy',
    );
    this.#alarm.cancel();
    this.#farewell?.cancel();
    const reason = this.#reason ?? { kind: 'local' };
    this.#handler?.onClose(reason);
    this.#parts.onClosed(this, reason);
  }

  // From the protocol.

  onReady(session: HandshakeResult): void {
    this.#session = session;
    this.#handler = this.#parts.onReady(this);
  }

  onFrame(frame: ReceivedFrame): void {
    this.#handler?.onFrame(frame);
  }

  onPeerError(error: PeerError): void {
    this.#handler?.onPeerError?.(error);
  }

  onGoodbye(graceMs: number): void {
    this.#handler?.onPeerDraining?.(graceMs);
  }

  onOver(reason: CloseReason, farewell: 'close' | 'destroy'): void {
    this.#reason = reason;
    if (this.#gone) return;
    if (farewell === 'destroy') {
      this.#ended = true;
      this.#socket.destroy();
      return;
    }
    const { clock, limits } = this.#parts;
    this.#alarm.cancel();
    this.#farewell = clock.setTimer(limits.closingMs, () => this.#socket.destroy());
    // Reading goes on, so that the peer's end is seen; the protocol ignores what comes.
    this.#socket.resume();
    this.#flush();
  }

  #queued(): WriteResult {
    if (this.#outbox.writer.bytes >= FLUSH_BYTES && !this.#congested) this.#flush();
    else this.#arm();
    if (this.#outbox.bytes <= this.#parts.limits.outboxHighBytes) return 'accepted';
    this.#wantsDrain = true;
    // Only a listener stops reading: if both sides did, two peers with full outboxes would wait for each other.
    if (this.#parts.side === 'listener') this.#intake.stop(BY_OUTBOX);
    return 'backpressure';
  }

  // Pongs and Errors are written without asking `send`: a peer that provokes them and reads nothing must not fill memory either.
  #boundAnswers(): void {
    const { outboxHighBytes, outboxBytesMax } = this.#parts.limits;
    if (this.#outbox.bytes <= outboxHighBytes || this.#reason !== null) return;
    if (this.#parts.side === 'listener') this.#intake.stop(BY_OUTBOX);
    else if (this.#outbox.bytes > 2 * outboxBytesMax) this.destroy({ kind: 'slow-reader' });
  }

  #arm(): void {
    if (this.#armed || this.#inReceive || this.#congested || this.#ended) return;
    this.#armed = true;
    this.#parts.clock.soon(() => {
      this.#armed = false;
      this.#flush();
      this.#ease();
    });
  }

  /** The outbox is low again: whoever waited for that goes on. */
  #ease(): void {
    if (this.#congested && this.#outbox.bytes > this.#parts.limits.outboxHighBytes / 2) return;
    this.#intake.go(BY_OUTBOX);
    if (!this.#wantsDrain || this.#reason !== null) return;
    this.#wantsDrain = false;
    this.#handler?.onWritable?.();
  }

  #flush(): void {
    if (this.#congested || this.#ended) return;
    let wrote = false;
    while (!this.#congested) {
      if (this.#bodies.outgoing > 0) this.#bodies.pump(this.#hasBodyRoom);
      const pieces = this.#outbox.next();
      if (pieces.length === 0) break;
      wrote = true;
      if (!this.#socket.write(pieces)) {
        this.#congested = true;
        this.#outbox.stalled(pieces);
      } else if (this.#socket.heldBytes === 0) this.#outbox.left();
    }
    if (wrote) this.#wroteAt(this.#parts.clock.now());
    if (this.#reason === null || this.#outbox.bytes > 0 || this.#ended) return;
    this.#ended = true;
    this.#socket.end();
  }

  readonly #hasBodyRoom = (): boolean => this.#outbox.bytes < BODY_ROOM_BYTES;

  #wroteAt(now: number): void {
    this.#liveness.spoke(now);
    if (!this.#congested) return;
    this.#liveness.stalled(now);
    this.#setTimer();
  }

  #shut(): void {
    this.#protocol.decoder.halt();
    this.#liveness.paused(this.#parts.clock.now());
    this.#socket.pause();
  }

  #open(): void {
    // Frames already read come first; they may well stop the intake again.
    this.#protocol.resume(this.#parts.clock.now());
    if (this.#intake.reading && !this.#gone) this.#socket.resume();
    this.#arm();
    this.#setTimer();
  }

  #setTimer(): void {
    if (this.#reason === null) this.#alarm.notLaterThan(this.#liveness.nextAt());
  }

  #look(): void {
    if (this.#reason !== null) return;
    this.#protocol.tick(this.#parts.clock.now());
    if (this.#outbox.bytes > 0) this.#flush();
    else this.#outbox.writer.rest();
    this.#setTimer();
  }
}

function fits(header: FrameHeader, body: Uint8Array, session: HandshakeResult): boolean {
  const headerLen = session.dialect === 'minimal' || header === NO_HEADER ? 0 : headerBytes(header);
  return 2 + headerLen + body.length <= session.peerCapacity.payloadBytesMax;
}
