import type { MailboxKind } from './mailbox-type.js';
import type { MessageQueue } from './queue.js';
import { NO_QUEUE } from './queue.js';
import { IDLE } from './status.js';

/**
 * What the scheduler knows of an actor: a slot number, the status word and the user lane.
 * Everything about the actor itself is in the cell that extends it (one object, so that an idle actor stays small).
 */
export abstract class Mailbox {
  kind: MailboxKind;
  slot: number;
  status: number;
  queue: MessageQueue;

  constructor(kind: MailboxKind, slot: number) {
    this.kind = kind;
    this.slot = slot;
    this.status = IDLE;
    this.queue = NO_QUEUE;
  }
}
