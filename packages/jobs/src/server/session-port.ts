import type { AnyRef, Delivered } from '@troupe/core';
import type { LeaderForPeers, PeerPort } from '../protocol/leader-interface.js';
import { callByKind, type MessagesByKind } from '../protocol/messages-by-kind.js';
import type { Taken } from './offer-to-leader.js';
import type { SessionSetup } from './session-setup.js';

/** A session as its port sees it. */
export interface PortSession<Message extends { readonly kind: string }> extends AnyRef {
  readonly offer: MessagesByKind<Message, Delivered>;
}

/** The port through which the leader reaches a session: full where the mailbox or the outbox is. */
export class SessionPort<Message extends { readonly kind: string }> implements PeerPort<Message> {
  readonly ref: PortSession<Message>;
  readonly access: PeerPort<Message>['access'];
  readonly creditMax: number;
  readonly streams: boolean;
  private readonly methods: MessagesByKind<Message, Delivered>;
  private readonly connection: SessionSetup['connection'];
  private readonly leader: LeaderForPeers<Taken>;
  private readonly hasRoom: () => boolean;
  private wasFull = false;

  constructor(ref: PortSession<Message>, setup: SessionSetup, hasRoom: () => boolean = () => true) {
    const { connection, leader, access } = setup;
    this.ref = ref;
    this.methods = ref.offer;
    this.access = access;
    this.creditMax = connection.handshake.creditMax;
    this.streams = connection.handshake.dialect === 'full';
    this.connection = connection;
    this.leader = leader;
    this.hasRoom = hasRoom;
  }

  offer(message: Message): Delivered {
    const delivered = this.hasRoom() ? callByKind(this.methods, message) : 'full';
    this.wasFull ||= delivered === 'full';
    return delivered;
  }

  endSlowReader(): void {
    this.connection.destroy({ kind: 'slow-reader' });
  }

  handled(bytes: number): void {
    this.connection.requestEnded(bytes);
  }

  /** Reports the end of a lack of room to the leader. */
  reportRoom(): Taken {
    if (!this.wasFull || !this.hasRoom()) return undefined;
    this.wasFull = false;
    return this.leader.writable(this as PeerPort<never>);
  }
}
