// Hot path: `onFrame` and `nextFrame` run for every frame.
import type { Delivered } from '@troupe/core';
import type { BodySource } from '../body/body-source.js';
import type { OutgoingBody, OutgoingBodyOptions } from '../body/outgoing-body.js';
import type { CloseReason } from '../connection/close-reason.js';
import type { Connection } from '../connection/connection.js';
import type { ConnectionHandler, WriteRefusal, WriteResult } from '../connection/connection-handler.js';
import { ReceivedFrame } from '../connection/received-frame.js';
import type { PeerError, WireErrorDetail, WireErrorName } from '../connection/wire-error.js';
import type { FrameHeader } from '../frame/frame-header.js';
import type { HandshakeResult } from '../handshake/handshake-result.js';
import type { ConnectionNotice, SessionRef } from './connection-events.js';

/** Frames that a session has not taken: at this many bytes, reading pauses. */
const UNREAD_BYTES_MAX = 256 * 1024;
const UNREAD_FRAMES_MAX = 4_096;

/**
 * A connection in the hands of the one actor that is its session. Frames wait here until the session takes
 * them, and reading pauses while too many wait or the mailbox of the session is full. Writes of one turn
 * leave in one write to the socket.
 */
export class SessionConnection implements ConnectionHandler {
  private readonly connection: Connection;
  private session: SessionRef | null = null;
  /** Taken frames are null. */
  private unread: (ReceivedFrame | null)[] = [];
  private nextUnread = 0;
  private unreadBytes = 0;
  /** A `readable` is in the mailbox, or the session has not seen the end of the frames yet. */
  private isAnnounced = false;
  private isPaused = false;
  /** The connection is not read for lack of room in the mailbox. */
  private isAwaitingRoom = false;
  private closeReason: CloseReason | null = null;
  private writableWaiters: (() => void)[] = [];

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** The actor that gets the events from now on. Frames that another one has left are announced to it. */
  attach(session: SessionRef): void {
    this.session = session;
    if (this.nextUnread < this.unread.length) this.announce(session);
    if (this.closeReason !== null) this.reportClosed();
  }

  get handshake(): HandshakeResult {
    return this.connection.handshake;
  }

  get remote(): string {
    return this.connection.remote;
  }

  get outboxBytes(): number {
    return this.connection.outboxBytes;
  }

  /** False from `closed` on, and before it as soon as the connection is closing. */
  get isOpen(): boolean {
    return this.connection.state !== 'closed';
  }

  /** The next frame, or null. A `body` that is kept needs `detach`: it holds a whole read buffer. */
  nextFrame(): ReceivedFrame | null {
    const frame = this.unread[this.nextUnread] ?? null;
    if (frame === null) {
      this.isAnnounced = false;
      this.unread = [];
      this.nextUnread = 0;
      this.readOn();
      return null;
    }
    this.unread[this.nextUnread] = null;
    this.nextUnread += 1;
    this.unreadBytes -= frame.body.length;
    return frame;
  }

  /** As `Connection.write`. After 'backpressure' or 'full', `whenWritable` tells when there is room. */
  write(type: number, header: FrameHeader, body: Uint8Array): WriteResult {
    return this.connection.write(type, header, body);
  }

  writeBody(
    type: number,
    header: FrameHeader,
    source: BodySource,
    options: OutgoingBodyOptions = {},
  ): OutgoingBody | WriteRefusal {
    return this.connection.writeBody(type, header, source, options);
  }

  writeError(name: WireErrorName, detail: WireErrorDetail = {}): void {
    this.connection.writeError(name, detail);
  }

  /**
   * Resolves when the outbox is below its high mark again, or the connection is closed. A handler that awaits
   * it keeps its actor from handling further messages, so that its mailbox fills and its senders notice.
   */
  whenWritable(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isOpen) this.writableWaiters.push(resolve);
      else resolve();
    });
  }

  /**
   * Puts the body of a frame with `incoming` together, within `bytesMax` and the body budgets of the
   * connection and of its identity. The frame with its whole body comes out of `nextFrame` later. A body that
   * is refused or breaks off ends the connection. `received`: the part that was read before.
   */
  gather(frame: ReceivedFrame, bytesMax: number, received?: Buffer): void {
    if (frame.incoming === null) return this.onFrame(frame);
    this.connection.gather(frame.incoming, bytesMax, {
      received,
      onWhole: (bytes) => this.onFrame(new ReceivedFrame(frame.type, frame.header, bytes, null, true)),
      onRefused: (errorName) => {
        const field = errorName === 'PAYLOAD_TOO_LARGE' ? 'bodyLength' : 'body';
        this.connection.writeError(errorName, { field, corrId: frame.header.msgId });
        this.connection.close({ kind: 'refused', errorName, cause: field });
      },
      onFail: () => this.connection.close(),
    });
  }

  /** A request is in flight: at the limits of requests in flight, reading pauses until some have ended. */
  requestStarted(bytes: number): void {
    this.connection.requestStarted(bytes);
  }

  requestEnded(bytes: number): void {
    this.connection.requestEnded(bytes);
  }

  drain(graceMs: number): void {
    this.connection.drain(graceMs);
  }

  close(reason?: CloseReason): void {
    this.connection.close(reason);
  }

  destroy(reason?: CloseReason): void {
    this.connection.destroy(reason);
  }

  // Events of the connection.

  onFrame(frame: ReceivedFrame): void {
    if (this.session === null) return;
    this.unread.push(frame);
    this.unreadBytes += frame.body.length;
    if (!this.isAnnounced) this.announce(this.session);
    if (this.unreadBytes >= UNREAD_BYTES_MAX || this.unread.length - this.nextUnread >= UNREAD_FRAMES_MAX)
      this.pause();
  }

  onWritable(): void {
    const waiters = this.writableWaiters;
    this.writableWaiters = [];
    for (const resolve of waiters) resolve();
  }

  onPeerDraining(graceMs: number): void {
    this.notify({ kind: 'draining', graceMs });
  }

  onPeerError(error: PeerError): void {
    this.notify({ kind: 'peer-error', error });
  }

  onClose(reason: CloseReason): void {
    this.closeReason = reason;
    this.onWritable();
    if (!this.isAwaitingRoom) this.reportClosed();
  }

  private announce(session: SessionRef): void {
    this.isAnnounced = true;
    this.afterOffer(session.offer.readable(), () => session.send.readable());
  }

  private notify(notice: ConnectionNotice): void {
    const { session } = this;
    if (session === null) return;
    this.afterOffer(session.offer.notice(notice), () => session.send.notice(notice));
  }

  /** Waiting events keep their order: while one waits for room, the connection is not read. */
  private afterOffer(delivered: Delivered, sendAgain: () => Promise<void>): void {
    if (delivered === 'closed') return this.connection.close();
    if (delivered !== 'full') return;
    this.isAwaitingRoom = true;
    this.pause();
    sendAgain().then(
      () => this.roomFound(),
      // The session has stopped: its connection has no further use.
      () => this.connection.close(),
    );
  }

  private roomFound(): void {
    this.isAwaitingRoom = false;
    if (this.closeReason === null) this.readOn();
    else this.reportClosed();
  }

  private reportClosed(): void {
    const { session, closeReason } = this;
    if (session === null || closeReason === null) return;
    if (session.offer.closed(closeReason) !== 'full') return;
    // A session that stops without room needs no further word.
    session.send.closed(closeReason).catch(() => undefined);
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.connection.pause();
  }

  private readOn(): void {
    if (!this.isPaused || this.isAwaitingRoom || this.isAnnounced) return;
    this.isPaused = false;
    this.connection.resume();
  }
}
