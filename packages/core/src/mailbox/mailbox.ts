import type { MailboxType } from './mailbox-type.js';
import type { MessageQueue } from './message-queue.js';
import { EMPTY_QUEUE } from './message-queue.js';
import { IDLE } from './status-word.js';

/**
 * What the scheduler knows of an actor: a slot number, the status word and the user lane.
 * Everything about the actor itself is in the cell that extends it (one object, so that an idle actor stays small).
 */
export abstract class Mailbox {
  type: MailboxType;
  slot: number;
  status: number;
  queue: MessageQueue;

  constructor(type: MailboxType, slot: number) {
    this.type = type;
    this.slot = slot;
    this.status = IDLE;
    this.queue = EMPTY_QUEUE;
  }
}
