// Hot path: no allocation per message.

import type { FlightRecorder } from '../inspect/flight-recorder.js';
import type { DeadLetterReason } from '../message/dead-letter.js';
import { Envelope, enveloped, handlerOf, isEnveloped } from '../message/envelope.js';
import type { ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';
import { NO_SLOT } from '../run-queue/slots.js';
import type { Mailbox } from './mailbox.js';
import { EMPTY_QUEUE, MessageQueue } from './message-queue.js';
import { whenFull } from './overflow-policy.js';
import { LevelledQueue } from './priority-levels.js';
import { CLOSED, DRAINING, IDLE, SCHEDULED, SLOW_PATH } from './status-word.js';

/** Whoever goes on sending to a mailbox that is over its capacity is pressed when it begins, then every 64 messages. */
const MUTE_CHECK_MASK = 63;

// Constants of this module are part of the compiled send; imported ones would be loaded and checked at every use (ADR 0028).
const IS_SCHEDULED = SCHEDULED;
const FAST_PATH_MASK = SCHEDULED | CLOSED | SLOW_PATH;
const SHARED_EMPTY_QUEUE = EMPTY_QUEUE;

export type Delivered = 'accepted' | 'full' | 'closed';

/** Where messages end that reach no handler. */
export interface DeadLetterOffice<M extends Mailbox> {
  undelivered(mailbox: M, handler: number, payload: unknown, reason: DeadLetterReason): void;
}

/** Makes the envelope's context when a middleware listens to sends; see `Pipeline`. */
export interface SendHook<M extends Mailbox> {
  contextFor(mailbox: M, envelope: Envelope): unknown;
}

/**
 * From a sender to a mailbox. The fast paths are the two that matter: an idle actor gets its message as a ride in the
 * ready ring, a busy one with room gets it in its queue. All else goes through `postSlow`.
 */
export class Delivery<M extends Mailbox = Mailbox> {
  private readonly ready: ReadyQueueCoordinator<M>;
  private readonly office: DeadLetterOffice<M>;
  private readonly sendHook: SendHook<M>;
  private readonly recorder: FlightRecorder | undefined;

  constructor(
    ready: ReadyQueueCoordinator<M>,
    office: DeadLetterOffice<M>,
    sendHook: SendHook<M>,
    recorder: FlightRecorder | undefined,
  ) {
    this.ready = ready;
    this.office = office;
    this.sendHook = sendHook;
    this.recorder = recorder;
  }

  /** `tell`: never throws, never waits; what cannot be accepted becomes a dead letter. */
  tell(mailbox: M, handler: number, payload: unknown): void {
    if (mailbox.status === IDLE) this.wakeWith(mailbox, handler, payload);
    else this.post(mailbox, handler, payload);
  }

  /** Only for an idle mailbox. */
  wakeWith(mailbox: M, handler: number, payload: unknown): void {
    mailbox.status = IS_SCHEDULED;
    this.ready.registerWithMessage(mailbox.slot, handler, payload);
  }

  /** `offer`: says what became of it, and leaves no dead letter behind when the answer is no. */
  offer(mailbox: M, handler: number, payload: unknown): Delivered {
    if ((mailbox.status & CLOSED) !== 0) return 'closed';
    if (this.isFull(mailbox) && whenFull(mailbox.type.overflow, true) === 'refuse') return 'full';
    if (this.ready.queued >= this.ready.queuedMax) return 'full';
    this.tell(mailbox, handler, payload);
    return 'accepted';
  }

  isFull(mailbox: M): boolean {
    return mailbox.queue.length >= mailbox.type.capacity;
  }

  /** The actor whose synchronous handler is running: what is sent now is attributed to it. */
  get sender(): M | undefined {
    const running = this.ready.running;
    return running === NO_SLOT ? undefined : this.ready.slots.mailboxes[running];
  }

  post(mailbox: M, handler: number, payload: unknown): void {
    const queue = mailbox.queue;
    const ready = this.ready;
    const type = mailbox.type;
    if (
      (mailbox.status & FAST_PATH_MASK) === IS_SCHEDULED &&
      queue !== SHARED_EMPTY_QUEUE &&
      queue.length < type.hardCapacity &&
      ready.queued < ready.queuedMax
    ) {
      const another = queue.sender !== ready.running;
      if (another) this.record(queue, mailbox.slot, handler);
      queue.push(handler, payload);
      ready.queued += 1;
      const over = queue.length - type.capacity;
      if (over > 0 && (another || (over & MUTE_CHECK_MASK) === 1)) ready.backPressure.muteSender(mailbox);
      return;
    }
    this.postSlow(mailbox, handler, payload);
  }

  private postSlow(mailbox: M, handler: number, payload: unknown): void {
    if ((mailbox.status & CLOSED) !== 0) {
      const reason = (mailbox.status & DRAINING) !== 0 ? 'draining' : 'stopped';
      this.office.undelivered(mailbox, handler, payload, reason);
      return;
    }
    if (this.ready.queued >= this.ready.queuedMax) {
      this.office.undelivered(mailbox, handler, payload, 'overloaded');
      return;
    }
    if (this.isFull(mailbox) && !this.makeRoom(mailbox, handler, payload)) return;
    this.accept(mailbox, handler, payload);
  }

  /** False when the new message was refused. */
  private makeRoom(mailbox: M, handler: number, payload: unknown): boolean {
    switch (whenFull(mailbox.type.overflow, false)) {
      case 'accept-and-mute':
        this.ready.backPressure.muteSender(mailbox);
        return true;
      case 'evict-oldest': {
        const oldest = mailbox.queue.peek();
        this.ready.queued -= 1;
        this.office.undelivered(mailbox, oldest, mailbox.queue.take(), 'evicted');
        return true;
      }
      case 'accept':
        return true;
      default: {
        const reason = mailbox.type.overflow === 'drop-newest' ? 'dropped' : 'rejected';
        this.office.undelivered(mailbox, handler, payload, reason);
        return false;
      }
    }
  }

  private accept(mailbox: M, handler: number, payload: unknown): void {
    let queue = mailbox.queue;
    if (queue === EMPTY_QUEUE) {
      const levels = mailbox.type.levels;
      queue = levels === undefined ? new MessageQueue() : new LevelledQueue(levels);
      mailbox.queue = queue;
    }
    this.record(queue, mailbox.slot, handler);
    if ((mailbox.status & SLOW_PATH) !== 0 && mailbox.type.hasSendHook) {
      this.acceptWithContext(queue, mailbox, handler, payload);
    } else {
      queue.push(handler, payload);
    }
    this.ready.queued += 1;
    this.ready.registerReady(mailbox);
  }

  /** A sender that goes on sending to the same full mailbox is recorded once. */
  private record(queue: MessageQueue, receiver: number, handler: number): void {
    queue.sender = this.ready.running;
    this.recorder?.note(this.ready.running, receiver, handlerOf(handler), this.ready.sequence);
  }

  private acceptWithContext(queue: MessageQueue, mailbox: M, handler: number, payload: unknown): void {
    const envelope = isEnveloped(handler)
      ? (payload as Envelope)
      : new Envelope(mailbox, handler, payload, this.sender, undefined, Number.POSITIVE_INFINITY, 0);
    envelope.context = this.sendHook.contextFor(mailbox, envelope);
    queue.push(enveloped(envelope.handler), envelope);
  }
}
