// Hot path: write and flush.
import type { Action } from '../access/identity.js';
import type { TransportLimits } from '../access/transport-limits.js';
import { BodyBudget, BodyShare } from '../body/body-budget.js';
import { BodyGatherer, type GatheredBody } from '../body/body-gatherer.js';
import type { BodySource } from '../body/body-source.js';
import { BodyStreams } from '../body/body-streams.js';
import type { IncomingBody } from '../body/incoming-body.js';
import type { OutgoingBody, OutgoingBodyOptions } from '../body/outgoing-body.js';
import { type FrameHeader, NO_HEADER } from '../frame/frame-header.js';
import { headerBytes } from '../frame/header-writer.js';
import type { HandshakeResult } from '../handshake/handshake-result.js';
import type { Clock } from '../net/clock.js';
import type { NetSocket, SocketHandler } from '../net/net-interface.js';
import { ConnectionStateError } from '../transport-error.js';
import type { CloseReason } from './close-reason.js';
import type { ConnectionHandler, WriteRefusal, WriteResult } from './connection-handler.js';
import {
  type CloseMode,
  ConnectionProtocol,
  type Handshake,
  type ProtocolEvents,
  type ProtocolState,
} from './connection-protocol.js';
import { DeadlineTimer } from './deadline-timer.js';
import { Liveness } from './liveness.js';
import { Outbox } from './outbox.js';
import { PAUSED_BY_OUTBOX, PAUSED_BY_OWNER, ReadBackpressure } from './read-backpressure.js';
import type { ReceivedFrame } from './received-frame.js';
import type { PeerError, WireErrorDetail, WireErrorName } from './wire-error.js';

export interface ConnectionOptions {
  readonly socket: NetSocket;
  readonly clock: Clock;
  readonly limits: TransportLimits;
  readonly side: 'listener' | 'dialer';
  readonly handshake: Handshake;
  /** The memory for bodies of all connections of an identity; unbounded at a dialer. */
  readonly bodyBudgetOf?: ((result: HandshakeResult) => BodyBudget) | undefined;
  /** The handshake is done; the returned handler gets all further events. */
  readonly onReady: (connection: Connection) => ConnectionHandler;
  /** The connection is closed; called after `handler.onClose`. */
  readonly onClosed: (connection: Connection, reason: CloseReason) => void;
}

/** Small frames are flushed at the end of the current callback; from this size on at once. */
const FLUSH_BYTES = 64 * 1024;
/** Body chunks are added only below this size of the outbox, so that a small frame never waits for more. */
const BODY_ROOM_BYTES = 256 * 1024;

/** No header is larger: only bodies closer to the peer's limit are measured together with theirs. */
const HEADER_BYTES_MAX = 64 * 1024;

/** The protocol on a socket. All memory is bounded, nothing awaits. */
export class Connection implements SocketHandler, ProtocolEvents {
  private readonly options: ConnectionOptions;
  private readonly socket: NetSocket;
  private readonly outbox = new Outbox();
  private readonly bodyStreams: BodyStreams;
  private readonly liveness: Liveness;
  private readonly protocol: ConnectionProtocol;
  private readonly readBackpressure: ReadBackpressure;
  private readonly deadlineTimer: DeadlineTimer;
  private handler: ConnectionHandler | null = null;
  private result: HandshakeResult | null = null;
  private bodyGatherer: BodyGatherer | null = null;
  private flushScheduled = false;
  private inReceive = false;
  private socketFull = false;
  private wantsWritable = false;
  private closingTimer: { cancel(): void } | null = null;
  private closeReason: CloseReason | null = null;
  private writingEnded = false;
  private hasPeerDrained = false;
  private socketClosed = false;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.socket = options.socket;
    const { limits, clock } = options;
    this.bodyStreams = new BodyStreams(limits, this.outbox, () => this.scheduleFlush());
    this.liveness = new Liveness(limits, clock.now());
    this.deadlineTimer = new DeadlineTimer(clock, () => this.checkDeadlines());
    this.readBackpressure = new ReadBackpressure(limits, {
      pauseReading: () => this.pauseReading(),
      resumeReading: () => this.resumeReading(),
    });
    this.protocol = new ConnectionProtocol({
      limits,
      handshake: options.handshake,
      writer: this.outbox.writer,
      bodies: this.bodyStreams,
      liveness: this.liveness,
      events: this,
      side: options.side,
    });
  }

  /** Starts reading. `hello` is the first frame of a dialer. */
  begin(hello: { readonly type: number; readonly payload: Uint8Array } | null): void {
    if (hello !== null) this.outbox.writer.writeFrame(hello.type, hello.payload);
    this.socket.attach(this);
    this.flush();
    this.armTimer();
  }

  get state(): ProtocolState {
    return this.protocol.state;
  }

  /** The peer has announced that it ends this connection. */
  get isPeerDraining(): boolean {
    return this.hasPeerDrained;
  }

  /** The result of the handshake. Known from `onReady` on; throws before. */
  get handshake(): HandshakeResult {
    if (this.result === null) throw new ConnectionStateError('its handshake is not done yet');
    return this.result;
  }

  get remote(): string {
    return this.socket.remote;
  }

  /** Bytes waiting to be written, those in the socket's buffer included. */
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

  /** Whether the identity of the peer has the right. At a dialer, which has no rules, always true. */
  permits(action: Action, subject: string): boolean {
    return this.result?.identity?.permits(action, subject) ?? this.options.side === 'dialer';
  }

  /** Queues one frame; without its header for a minimal peer. A body of 16 KiB or more is not copied. */
  write(type: number, header: FrameHeader, body: Uint8Array): WriteResult {
    const { result } = this;
    if (result === null || this.writingEnded || this.closeReason !== null) return 'closed';
    if (this.outbox.bytes >= this.options.limits.outboxBytesMax) {
      this.wantsWritable = true;
      return 'full';
    }
    if (body.length + HEADER_BYTES_MAX > result.peerCapacity.payloadBytesMax && !fits(header, body, result))
      return 'too-large';
    if (result.dialect === 'minimal') this.outbox.writer.writeFrame(type, body);
    else this.outbox.writer.writeMessage(type, header, body);
    return this.afterWrite();
  }

  /**
   * Queues a streamed body. Its chunks are written between other frames, as fast as the peer grants credit;
   * `onOutcome` is called at its end. 'full': `bodiesMax` bodies are open. Always 'too-large' for a minimal
   * peer.
   */
  writeBody(
    type: number,
    header: FrameHeader,
    source: BodySource,
    options: OutgoingBodyOptions = {},
  ): OutgoingBody | WriteRefusal {
    const { result } = this;
    if (result === null || this.writingEnded || this.closeReason !== null) return 'closed';
    if (result.dialect === 'minimal' || (source.length ?? 0) > result.peerCapacity.bodyBytesMax)
      return 'too-large';
    if (this.bodyStreams.outgoingCount >= this.options.limits.bodiesMax) return 'full';
    const body = this.bodyStreams.begin(type, header, source, result.peerCapacity, options);
    this.scheduleFlush();
    return body;
  }

  /**
   * Puts a body in pieces together, within `bytesMax` and the memory of this connection and of its identity:
   * while that is in use, the sender gets no further credit.
   */
  gather(incoming: IncomingBody, bytesMax: number, body: GatheredBody): void {
    const { limits, bodyBudgetOf } = this.options;
    const share = bodyBudgetOf === undefined ? Number.POSITIVE_INFINITY : limits.gatheredBytesMax;
    this.bodyGatherer ??= new BodyGatherer(
      bodyBudgetOf?.(this.handshake) ?? new BodyBudget(share),
      new BodyShare(share),
      limits.windowBytes,
    );
    this.bodyGatherer.gather(incoming, bytesMax, body);
  }

  /** Writes an Error frame. Some errors end the connection, at once or above their number per minute. */
  writeError(name: WireErrorName, detail: WireErrorDetail = {}): void {
    this.protocol.writeError(name, detail);
    this.scheduleFlush();
  }

  /** Delivers and reads nothing until `resume`; bytes already read are held. */
  pause(): void {
    this.readBackpressure.pause(PAUSED_BY_OWNER);
  }

  resume(): void {
    this.readBackpressure.resume(PAUSED_BY_OWNER);
  }

  /** A request is in flight. At the limits of requests in flight, reading pauses until some have ended. */
  requestStarted(bytes: number): void {
    this.readBackpressure.requestStarted(bytes);
  }

  requestEnded(bytes: number): void {
    this.readBackpressure.requestEnded(bytes);
  }

  /** Announces that this side closes within `graceMs`. New SubmitJob frames get the error DRAINING. */
  drain(graceMs: number): void {
    this.protocol.drain(graceMs);
    this.scheduleFlush();
  }

  /** Writes the outbox, then closes; destroys the socket after `closingMs` if the peer does not close. */
  close(reason: CloseReason = { kind: 'local' }): void {
    this.protocol.close(reason, 'close');
  }

  destroy(reason: CloseReason = { kind: 'local' }): void {
    this.protocol.close(reason, 'destroy');
  }

  // Events of the socket.

  onData(chunk: Buffer): void {
    this.inReceive = true;
    this.protocol.receive(chunk, this.options.clock.now());
    this.inReceive = false;
    // The answers to all frames of one chunk are one write.
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

  // Events of the protocol.

  onReady(result: HandshakeResult): void {
    this.result = result;
    this.handler = this.options.onReady(this);
  }

  onFrame(frame: ReceivedFrame): void {
    this.handler?.onFrame(frame);
  }

  onPeerError(error: PeerError): void {
    this.handler?.onPeerError?.(error);
  }

  onPeerDraining(graceMs: number): void {
    this.hasPeerDrained = true;
    this.handler?.onPeerDraining?.(graceMs);
  }

  onClosing(reason: CloseReason, mode: CloseMode): void {
    this.closeReason = reason;
    if (this.socketClosed) return;
    if (mode === 'destroy') {
      this.writingEnded = true;
      this.socket.destroy();
      return;
    }
    const { clock, limits } = this.options;
    this.deadlineTimer.cancel();
    this.closingTimer = clock.setTimer(limits.closingMs, () => this.socket.destroy());
    // Reading goes on, so that the end of the peer's stream is seen; the protocol ignores its frames.
    this.socket.resume();
    this.flush();
  }

  private afterWrite(): WriteResult {
    if (this.outbox.writer.pendingBytes >= FLUSH_BYTES && !this.socketFull) this.flush();
    else this.scheduleFlush();
    if (this.outbox.bytes <= this.options.limits.outboxHighBytes) return 'accepted';
    this.wantsWritable = true;
    // Only a listener pauses reading: two peers with full outboxes would otherwise wait for each other.
    if (this.options.side === 'listener') this.readBackpressure.pause(PAUSED_BY_OUTBOX);
    return 'backpressure';
  }

  // Pongs and Errors bypass `write`: a peer that provokes them and does not read must not fill memory.
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

  /** Below half of the high mark, reading resumes and the handler may write again. */
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
    // Frames already read come first; they may pause reading again.
    this.protocol.resume(this.options.clock.now());
    if (this.readBackpressure.isReading && !this.socketClosed) this.socket.resume();
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

function fits(header: FrameHeader, body: Uint8Array, result: HandshakeResult): boolean {
  const headerLen = result.dialect === 'minimal' || header === NO_HEADER ? 0 : headerBytes(header);
  return 2 + headerLen + body.length <= result.peerCapacity.payloadBytesMax;
}
