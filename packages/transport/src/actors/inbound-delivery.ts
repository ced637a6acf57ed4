import { type Delivered, TroupeError } from '@troupe/core';
import type { CloseReason } from '../connection/close-reason.js';
import type { Connection } from '../connection/connection.js';
import type { ConnectionHandler } from '../connection/connection-handler.js';
import type { ReceivedFrame } from '../connection/received-frame.js';
import type { PeerError } from '../connection/wire-error.js';
import type { ConnectionReceiver, ConnectionRef } from './connection-messages.js';

/**
 * Spawns the actor of a connection and delivers the connection's events to `receiver`. A connection whose
 * handshake ends while the system is stopping is closed.
 */
export function attachConnectionActor(
  connection: Connection,
  receiver: ConnectionReceiver,
  spawn: (inbound: InboundDelivery) => ConnectionRef,
): InboundDelivery {
  const inbound = new InboundDelivery(connection, receiver);
  try {
    inbound.open(spawn(inbound));
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    connection.close();
  }
  return inbound;
}

/** Delivers the events of a connection to an actor, in order; pauses reading while its mailbox is full. */
export class InboundDelivery implements ConnectionHandler {
  onWritableAgain: () => void = () => undefined;
  onConnectionClosed: () => void = () => undefined;
  private readonly connection: Connection;
  private readonly receiver: ConnectionReceiver;
  private connectionActor: ConnectionRef | null = null;
  private awaitingRoom = false;
  private closeReason: CloseReason | null = null;

  constructor(connection: Connection, receiver: ConnectionReceiver) {
    this.connection = connection;
    this.receiver = receiver;
  }

  /** `opened` is delivered before any frame. */
  open(connection: ConnectionRef): void {
    this.connectionActor = connection;
    const opened = { connection, handshake: this.connection.handshake };
    const { offer, send } = this.receiver;
    this.afterOffer(offer.opened(opened), () => send.opened(opened));
  }

  onFrame(frame: ReceivedFrame): void {
    const connection = this.connectionActor;
    if (connection === null) return;
    const delivered = this.receiver.offer.frame({ connection, frame });
    if (delivered === 'accepted') return;
    const kept = frame.detach();
    this.afterOffer(delivered, () => this.receiver.send.frame({ connection, frame: kept }));
  }

  onWritable(): void {
    this.onWritableAgain();
  }

  onPeerDraining(graceMs: number): void {
    const connection = this.connectionActor;
    if (connection === null) return;
    const notice = { connection, kind: 'draining', graceMs } as const;
    this.afterOffer(this.receiver.offer.notice(notice), () => this.receiver.send.notice(notice));
  }

  onPeerError(error: PeerError): void {
    const connection = this.connectionActor;
    if (connection === null) return;
    const notice = { connection, kind: 'peer-error', error } as const;
    this.afterOffer(this.receiver.offer.notice(notice), () => this.receiver.send.notice(notice));
  }

  onClose(reason: CloseReason): void {
    this.closeReason = reason;
    if (!this.awaitingRoom) this.reportClosed(reason);
    this.onConnectionClosed();
  }

  // A paused connection delivers no frames, so at most one event waits for room.
  private afterOffer(delivered: Delivered, sendAgain: () => Promise<void>): void {
    if (delivered === 'closed') return this.connection.close();
    if (delivered !== 'full') return;
    this.awaitingRoom = true;
    this.connection.pause();
    const after = (): void => {
      this.awaitingRoom = false;
      if (this.closeReason === null) this.connection.resume();
      else this.reportClosed(this.closeReason);
    };
    sendAgain().then(after, () => {
      // The receiver has stopped: the event is a dead letter, and the connection has no further use.
      after();
      this.connection.close();
    });
  }

  private reportClosed(reason: CloseReason): void {
    const connection = this.connectionActor;
    if (connection === null) return;
    const closed = { connection, reason };
    this.afterOffer(this.receiver.offer.closed(closed), () =>
      this.receiver.send.closed(closed).then(() => this.finish()),
    );
  }

  private finish(): void {
    this.closeReason = null;
    this.connectionActor = null;
  }
}
