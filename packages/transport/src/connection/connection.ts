// Hot path: send and flush.
import type { Action } from '../access/identity.js';
import type { TransportLimits } from '../access/transport-limits.js';
import { ConnectionStateError } from '../errors.js';
import { type FrameHeader, headerBytes, NO_HEADER } from '../frame/header.js';
import type { HandshakeResult } from '../handshake/handshake-result.js';
import type { Clock } from '../net/clock.js';
import type { NetSocket, SocketHandler } from '../net/net.js';
import type { BodySource } from './body-source.js';
import { BodyStreams } from './body-streams.js';
import type { CloseReason } from './close-reason.js';
import type { ConnectionHandler, WriteRefusal, WriteResult } from './connection-handler.js';
import { DeadlineTimer } from './deadline-timer.js';
import { Liveness } from './liveness.js';
import { Outbox } from './outbox.js';
import type { OutgoingBody, OutgoingBodyOptions } from './outgoing-body.js';
import { type Handshake, Protocol, type ProtocolEvents, type ProtocolState } from './protocol.js';
import { PAUSED_BY_OUTBOX, PAUSED_BY_OWNER, ReadBackpressure } from './read-backpressure.js';
import type { ReceivedFrame } from './received-frame.js';
import type { PeerError, WireErrorDetail, WireErrorName } from './wire-error.js';

export interface ConnectionOptions {
  readonly socket: NetSocket;
  readonly clock: Clock;
  readonly limits: TransportLimits;
  readonly side: 'listener' | 'dialer';
  readonly handshake: Handshake;
  readonly checkFrame: ((frame: ReceivedFrame, now: number) => WireErrorName | null) | null;
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
  private readonly options: ConnectionOptions;
  private readonly socket: NetSocket;
  private readonly outbox = new Outbox();
  private readonly bodyStreams: BodyStreams;
  private readonly liveness: Liveness;
  private readonly protocol: Protocol;
  private readonly readBackpressure: ReadBackpressure;
  private readonly deadlineTimer: DeadlineTimer;
  private handler: ConnectionHandler | null = null;
  private result: HandshakeResult | null = null;
  private flushScheduled = false;
  private inReceive = false;
  private socketFull = false;
  private wantsWritable = false;
  private closingTimer: { cancel(): void } | null = null;
  private closeReason: CloseReason | null = null;
  private writingEnded = false;
  private socketClosed = false;

  constructor(parts: ConnectionOptions) {
    this.options = parts;
    this.socket = parts.socket;
    const { limits, clock } = parts;
    this.bodyStreams = new BodyStreams(limits, this.outbox, () => this.scheduleFlush());
    this.liveness = new Liveness(limits, clock.now());
    this.deadlineTimer = new DeadlineTimer(clock, () => this.checkDeadlines());
    this.readBackpressure = new ReadBackpressure(limits, {
      pauseReading: () => this.pauseReading(),
      resumeReading: () => this.resumeReading(),
    });
    this.protocol = new Protocol({
      limits,
      handshake: parts.handshake,
      writer: this.outbox.writer,
      bodies: this.bodyStreams,
      liveness: this.liveness,
      events: this,
      checkFrame: parts.checkFrame,
      side: parts.side,
    });
  }

  /** Starts reading. `first` is what a dialer says first. */
  begin(first: { readonly type: number; readonly payload: Uint8Array } | null): void {
    if (first !== null) this.outbox.writer.writeFrame(first.type, first.payload);
    this.socket.attach(this);
    this.flush();
    this.armTimer();
  }

  get state(): ProtocolState {
    return this.protocol.state;
  }

  /** Who and what the handshake settled. Only known from `onReady` on. */
  get handshake(): HandshakeResult {
    if (this.result === null) throw new ConnectionStateError('has no session before its handshake is done');
    return this.result;
  }

  get remote(): string {
    return this.socket.remote;
  }

  /** Bytes waiting to be written, the socket's share included. */
  get outboxBytes(): number {
    return this.outbox.bytes;
  }

  get bodyCounts(): { readonly incoming: number; readonly outgoing: number } {
    return { incoming: this.bodyStreams.incomingCount, outgoing: this.bodyStreams.outgoingCount };
  }

  /** Frames received so far, of every type. */
  get framesReceived(): number {
    return this.protocol.decoder.framesDecoded;
  }

  /** False for an identity without a rule that allows it. A dialer has no rules about its listener: always true. */
  permits(action: Action, subject: string): boolean {
    return this.result?.identity?.permits(action, subject) ?? this.options.side === 'dialer';
  }

  /** Queues one frame. A body of 16 KiB or more is not copied: do not change it afterwards. A minimal peer gets no header. */
  write(type: number, header: FrameHeader, body: Uint8Array): WriteResult {
    const session = this.result;
    if (session === null || this.writingEnded || this.closeReason !== null) return 'closed';
    if (this.outbox.bytes >= this.options.limits.outboxBytesMax) {
      this.wantsWritable = true;
      return 'full';
    }
    if (
      body.length + HEADER_BYTES_SURE > session.peerCapacity.payloadBytesMax &&
      !fits(header, body, session)
    )
      return 'too-large';
    if (session.dialect === 'minimal') this.outbox.writer.writeFrame(type, body);
    else this.outbox.writer.writeMessage(type, header, body);
    return this.afterWrite();
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
    const session = this.result;
    if (session === null || this.writingEnded || this.closeReason !== null) return 'closed';
    if (session.dialect === 'minimal' || (source.length ?? 0) > session.peerCapacity.bodyBytesMax)
      return 'too-large';
    if (this.bodyStreams.outgoingCount >= this.options.limits.bodiesMax) return 'full';
    const body = this.bodyStreams.begin(type, header, source, session.peerCapacity, options);
    this.scheduleFlush();
    return body;
  }

  /** Answers a message with an Error. Some answers end the connection, at once or when there are too many of them. */
  writeError(name: WireErrorName, detail: WireErrorDetail = {}): void {
    this.protocol.writeError(name, detail);
    this.scheduleFlush();
  }

  /** Stops reading until `resume`. At most what is already read is still held, nothing is delivered. */
  pause(): void {
    this.readBackpressure.pause(PAUSED_BY_OWNER);
  }

  resume(): void {
    this.readBackpressure.resume(PAUSED_BY_OWNER);
  }

  /** A request was taken in and is not answered yet. Past the limits reading stops until enough are `settled`. */
  requestStarted(bytes: number): void {
    this.readBackpressure.requestStarted(bytes);
  }

  requestEnded(bytes: number): void {
    this.readBackpressure.requestEnded(bytes);
  }

  /** Tells the peer that this side leaves within `graceMs`. New SubmitJob frames are answered with DRAINING from here on. */
  drain(graceMs: number): void {
    this.protocol.drain(graceMs);
    this.scheduleFlush();
  }

  /** Writes what is queued, then closes; destroys after `closingMs` where the peer does not follow. */
  close(): void {
    this.protocol.close({ kind: 'local' }, 'close');
  }

  destroy(reason: CloseReason = { kind: 'local' }): void {
    this.protocol.close(reason, 'destroy');
  }

  // From the socket.

  onData(chunk: Buffer): void {
    this.inReceive = true;
    this.protocol.receive(chunk, this.options.clock.now());
    this.inReceive = false;
    // What the frames of one chunk caused is one write.
    if (this.outbox.writer.pendingBytes > 0 || this.bodyStreams.outgoingCount > 0) this.flush();
    if (this.socketFull) this.boundControlFrames();
    else this.reportWritable();
    this.armTimer();
  }

  onWritable(): void {
    this.socketFull = false;
    this.outbox.socketWritable();
    this.liveness.socketWritable();
    this.flush();
    this.reportWritable();
  }

  onEnd(): void {
    this.protocol.peerEnded();
  }

  onClose(error: Error | null): void {
    this.socketClosed = true;
    this.protocol.close(
      error === null
        ? { kind: 'peer-closed', midFrame: this.protocol.decoder.insideFrame }
        : { kind: 'socket-error', error },
      'destroy',
    );
    this.deadlineTimer.cancel();
    this.closingTimer?.cancel();
    const reason = this.closeReason ?? { kind: 'local' };
    this.handler?.onClose(reason);
    this.options.onClosed(this, reason);
  }

  // From the protocol.

  onReady(session: HandshakeResult): void {
    this.result = session;
    this.handler = this.options.onReady(this);
  }

  onFrame(frame: ReceivedFrame): void {
    this.handler?.onFrame(frame);
  }

  onPeerError(error: PeerError): void {
    this.handler?.onPeerError?.(error);
  }

  onPeerDraining(graceMs: number): void {
    this.handler?.onPeerDraining?.(graceMs);
  }

  onClosing(reason: CloseReason, farewell: 'close' | 'destroy'): void {
    this.closeReason = reason;
    if (this.socketClosed) return;
    if (farewell === 'destroy') {
      this.writingEnded = true;
      this.socket.destroy();
      return;
    }
    const { clock, limits } = this.options;
    this.deadlineTimer.cancel();
    this.closingTimer = clock.setTimer(limits.closingMs, () => this.socket.destroy());
    // Reading goes on, so that the peer's end is seen; the protocol ignores what comes.
    this.socket.resume();
    this.flush();
  }

  private afterWrite(): WriteResult {
    if (this.outbox.writer.pendingBytes >= FLUSH_BYTES && !this.socketFull) this.flush();
    else this.scheduleFlush();
    if (this.outbox.bytes <= this.options.limits.outboxHighBytes) return 'accepted';
    this.wantsWritable = true;
    // Only a listener stops reading: if both sides did, two peers with full outboxes would wait for each other.
    if (this.options.side === 'listener') this.readBackpressure.pause(PAUSED_BY_OUTBOX);
    return 'backpressure';
  }

  // Pongs and Errors are written without asking `send`: a peer that provokes them and reads nothing must not fill memory either.
  private boundControlFrames(): void {
    const { outboxHighBytes, outboxBytesMax } = this.options.limits;
    if (this.outbox.bytes <= outboxHighBytes || this.closeReason !== null) return;
    if (this.options.side === 'listener') this.readBackpressure.pause(PAUSED_BY_OUTBOX);
    else if (this.outbox.bytes > 2 * outboxBytesMax) this.destroy({ kind: 'slow-reader' });
  }

  private scheduleFlush(): void {
    if (this.flushScheduled || this.inReceive || this.socketFull || this.writingEnded) return;
    this.flushScheduled = true;
    this.options.clock.soon(() => {
      this.flushScheduled = false;
      this.flush();
      this.reportWritable();
    });
  }

  /** The outbox is low again: whoever waited for that goes on. */
  private reportWritable(): void {
    if (this.socketFull && this.outbox.bytes > this.options.limits.outboxHighBytes / 2) return;
    this.readBackpressure.resume(PAUSED_BY_OUTBOX);
    if (!this.wantsWritable || this.closeReason !== null) return;
    this.wantsWritable = false;
    this.handler?.onWritable?.();
  }

  private flush(): void {
    if (this.socketFull || this.writingEnded) return;
    let wrote = false;
    while (!this.socketFull) {
      if (this.bodyStreams.outgoingCount > 0) this.bodyStreams.writeChunks(this.hasBodyRoom);
      const pieces = this.outbox.takeNext();
      if (pieces.length === 0) break;
      wrote = true;
      if (!this.socket.write(pieces)) {
        this.socketFull = true;
        this.outbox.socketFull(pieces);
      } else if (this.socket.heldBytes === 0) this.outbox.socketEmpty();
    }
    if (wrote) this.noteWritten(this.options.clock.now());
    if (this.closeReason === null || this.outbox.bytes > 0 || this.writingEnded) return;
    this.writingEnded = true;
    this.socket.end();
  }

  private readonly hasBodyRoom = (): boolean => this.outbox.bytes < BODY_ROOM_BYTES;

  private noteWritten(now: number): void {
    this.liveness.bytesWritten(now);
    if (!this.socketFull) return;
    this.liveness.socketFull(now);
    this.armTimer();
  }

  private pauseReading(): void {
    this.protocol.decoder.halt();
    this.liveness.readingPaused(this.options.clock.now());
    this.socket.pause();
  }

  private resumeReading(): void {
    // Frames already read come first; they may well stop the intake again.
    this.protocol.resume(this.options.clock.now());
    if (this.readBackpressure.reading && !this.socketClosed) this.socket.resume();
    this.scheduleFlush();
    this.armTimer();
  }

  private armTimer(): void {
    if (this.closeReason === null) this.deadlineTimer.fireBy(this.liveness.nextDeadline());
  }

  private checkDeadlines(): void {
    if (this.closeReason !== null) return;
    this.protocol.tick(this.options.clock.now());
    if (this.outbox.bytes > 0) this.flush();
    else this.outbox.writer.releaseSlab();
    this.armTimer();
  }
}

function fits(header: FrameHeader, body: Uint8Array, session: HandshakeResult): boolean {
  const headerLen = session.dialect === 'minimal' || header === NO_HEADER ? 0 : headerBytes(header);
  return 2 + headerLen + body.length <= session.peerCapacity.payloadBytesMax;
}
