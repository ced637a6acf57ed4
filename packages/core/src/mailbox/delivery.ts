// Hot path: no allocation per message.

import type { FlightRecorder } from '../inspect/flight-recorder.js';
import { NO_SLOT } from '../mailbox/mailbox.js';
import type { DeadLetterReason } from '../message/dead-letter.js';
import { Envelope, enveloped, handlerOf, isEnveloped } from '../message/envelope.js';
import type { ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';
import type { Mailbox } from './mailbox.js';
import type { MailboxSettings } from './mailbox-settings.js';
import { EMPTY_QUEUE, type MessageQueue } from './message-queue.js';
import { whenFull } from './overflow-policy.js';
import { AWAITING, CLOSED, DRAINING, IDLE, OVERLOADED, SCHEDULED, SLOW_PATH, STUCK } from './status-word.js';

/** A sender beyond the capacity is muted at the first such message, and then looked at every 64 messages. */
const MUTE_CHECK_MASK = 63;

// Constants of this module are part of the compiled send; imported ones would be loaded and checked at every
// use.
const IS_SCHEDULED = SCHEDULED;
const IS_AWAITING = AWAITING;
const SCHEDULED_MASK = SCHEDULED | CLOSED | SLOW_PATH | STUCK;
const AWAITING_MASK = SCHEDULED_MASK | AWAITING | OVERLOADED;
const SHARED_EMPTY_QUEUE = EMPTY_QUEUE;

export type Delivered = 'accepted' | 'full' | 'closed';

/** Takes messages that reach no handler. */
export interface DeadLetterOffice<M extends Mailbox> {
  undelivered(mailbox: M, handler: number, payload: unknown, reason: DeadLetterReason): void;
}

/** Makes the envelope's context when a middleware listens to sends; see `Pipeline`. */
export interface SendHook<M extends Mailbox> {
  contextFor(mailbox: M, envelope: Envelope): unknown;
}

/**
 * From a sender to a mailbox. Two fast paths: the first message to an idle actor travels inline in its ready
 * entry (`wakeWith`), a message to a busy actor with room goes into its queue (`post`). Everything else is
 * `postSlow`.
 *
 * The methods of a ref decide between the two fast paths themselves (ref/make-ref-class.ts) and never call
 * `tell`: each definition has its own copy of them, so the compiler knows the type of the receiver there, and
 * a function as large as `tell` with both paths inlined is not inlined again into the sender's handler. All
 * other senders call `tell`.
 */
export class Delivery<M extends Mailbox = Mailbox> {
  protected readonly ready: ReadyQueueCoordinator<M>;
  private readonly office: DeadLetterOffice<M>;
  private readonly sendHook: SendHook<M>;
  protected readonly recorder: FlightRecorder | undefined;

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

  /** Never throws, never waits; a message that cannot be accepted becomes a dead letter. */
  tell(mailbox: M, handler: number, payload: unknown): void {
    // A mailbox between two of its turns may be idle and not empty: an inline message would overtake.
    if (mailbox.status === IDLE && mailbox.queue.length === 0) this.wakeWith(mailbox, handler, payload);
    else this.post(mailbox, handler, payload);
  }

  /** Only for an idle mailbox. */
  wakeWith(mailbox: M, handler: number, payload: unknown): void {
    mailbox.status = IS_SCHEDULED;
    this.ready.registerWithMessage(mailbox.slot, handler, payload);
  }

  /** `offer`: returns the outcome, and leaves no dead letter when the message was not accepted. */
  offer(mailbox: M, handler: number, payload: unknown): Delivered {
    if ((mailbox.status & CLOSED) !== 0) return 'closed';
    if (mailbox.isFull && whenFull(mailbox.type.overflow, true) === 'refuse') return 'full';
    if (this.ready.queued >= this.ready.queuedMax) return 'full';
    this.tell(mailbox, handler, payload);
    return 'accepted';
  }

  /** The actor whose synchronous handler is running: messages sent now are attributed to it. */
  get sender(): M | undefined {
    const running = this.ready.running;
    return running === NO_SLOT ? undefined : this.ready.slots.mailboxes[running];
  }

  post(mailbox: M, handler: number, payload: unknown): void {
    const queue = mailbox.queue;
    const ready = this.ready;
    const type = mailbox.type;
    const { status } = mailbox;
    if (
      // An actor that awaits is scheduled by its settlement: it need not be for a message.
      ((status & SCHEDULED_MASK) === IS_SCHEDULED || (status & AWAITING_MASK) === IS_AWAITING) &&
      queue !== SHARED_EMPTY_QUEUE &&
      (queue.length < type.hardCapacity || this.isUnlimited(type, queue.length)) &&
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

  /** The synchronous part of a handler is not refused at the hard limit: `queuedMax` bounds it. */
  private isUnlimited(type: MailboxSettings, length: number): boolean {
    const { ready } = this;
    return length < type.handlerCapacity && ready.running !== NO_SLOT && !ready.isAfterAwait;
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
    if (mailbox.isFull && !this.makeRoom(mailbox, handler, payload)) return;
    this.accept(mailbox, handler, payload);
  }

  /** False when the new message was refused. */
  private makeRoom(mailbox: M, handler: number, payload: unknown): boolean {
    switch (whenFull(mailbox.type.overflow, false)) {
      case 'accept-and-mute':
        if (mailbox.queue.length >= mailbox.type.hardCapacity && this.isRefusedAtLimit(mailbox)) {
          this.office.undelivered(mailbox, handler, payload, 'overloaded');
          return false;
        }
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

  /**
   * A sender that cannot be muted meets the hard limit; so does every sender to a receiver that is stuck.
   */
  private isRefusedAtLimit(mailbox: M): boolean {
    const { ready } = this;
    return ready.running === NO_SLOT || ready.isAfterAwait || mailbox.isStuck;
  }

  private accept(mailbox: M, handler: number, payload: unknown): void {
    const queue = mailbox.ownQueue();
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
