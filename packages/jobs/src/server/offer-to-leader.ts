import type { Delivered, Ref } from '@troupe/core';
import type { LeaderProtocol } from '../leader/leader-protocol.js';
import { routePeerMessages } from '../leader/route-peer-messages.js';
import type { LeaderForPeers } from '../protocol/leader-interface.js';

/**
 * Undefined: the leader has taken the message. A promise: its mailbox is full, and the promise resolves when
 * it has room and has taken the message. A handler of a session returns it, so that nothing more is read from
 * its connection meanwhile.
 */
export type Taken = Promise<void> | undefined;

/** The leader as sessions see it: messages go by `offer`, and by `send` where its mailbox is full. */
export function offerToLeader(leader: Ref<LeaderProtocol>): LeaderForPeers<Taken> {
  const offer = routePeerMessages<Delivered>(leader.offer);
  const send = routePeerMessages<Promise<void>>(leader.send);
  return {
    helloClient: (opened) => taken(offer.helloClient(opened), () => send.helloClient(opened)),
    fromClient: (received) => taken(offer.fromClient(received), () => send.fromClient(received)),
    helloWorker: (opened) => taken(offer.helloWorker(opened), () => send.helloWorker(opened)),
    fromWorker: (received) => taken(offer.fromWorker(received), () => send.fromWorker(received)),
    helloHeartbeat: (opened) => taken(offer.helloHeartbeat(opened), () => send.helloHeartbeat(opened)),
    fromHeartbeat: (received) => taken(offer.fromHeartbeat(received), () => send.fromHeartbeat(received)),
    payloadLost: (lost) => taken(offer.payloadLost(lost), () => send.payloadLost(lost)),
    writable: (port) => taken(offer.writable(port), () => send.writable(port)),
    connectionLost: (port) => taken(offer.connectionLost(port), () => send.connectionLost(port)),
  };
}

// A leader that has ended takes nothing: its system is stopping, and its sessions with it.
function taken(delivered: Delivered, send: () => Promise<void>): Taken {
  return delivered === 'full' ? send().catch(() => undefined) : undefined;
}

/** Runs `next` when the message before it is taken. */
export function afterTaken(before: Taken, next: () => Taken): Taken {
  return before === undefined ? next() : before.then(next);
}
