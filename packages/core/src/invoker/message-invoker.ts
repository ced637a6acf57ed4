// Hot path: no allocation per message.

import type { Mailbox } from '../mailbox/mailbox.js';
import { NO_SLOT } from '../mailbox/mailbox.js';
import {
  GATED,
  IDLE,
  INTERRUPTED,
  SCHEDULED,
  SIGNALLED,
  SLOW_PATH,
  TERMINATED,
} from '../mailbox/status-word.js';
import { type Envelope, handlerOf, isEnveloped, NO_MESSAGE } from '../message/envelope.js';
import type { ReplyPort } from '../message/later-reply.js';
import { BLOCKED, COMPLETED, type InvokeCode, STOPPED, YIELDED } from '../run-queue/invoke-result.js';
import type { ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';

type Run = (context: unknown, payload: unknown) => unknown;

// Constants of this module are part of the compiled loop; imported ones would be loaded and checked at every
// use.
const IS_IDLE = IDLE;
const ENDS_BATCH = INTERRUPTED | SLOW_PATH;
const IS_SCHEDULED = SCHEDULED;
const NEEDS_SLOW_PATH = INTERRUPTED | SLOW_PATH;
const WITHOUT_MESSAGE = NO_MESSAGE;

/** A turn of so many messages is worth a clock read. */
const LONG_TURN = 64;

export interface SignalReceiver<M extends Mailbox> {
  /** Handles everything in the signal lane. */
  handleSignals(mailbox: M): void;
}

export interface HandlerResultReceiver<M extends Mailbox> {
  /** A handler threw. */
  failed(mailbox: M, error: unknown, handler: number, envelope: Envelope | undefined): void;
  /** A handler returned an object: a promise, a later reply, or just a value. */
  returned(mailbox: M, result: object, handler: number, envelope: Envelope | undefined): void;
  /** The asker has given up: the message is not run. */
  expired(mailbox: M, envelope: Envelope): void;
  /** A message of the fast path was stashed, and its handler has returned. */
  stashed(mailbox: M, handler: number, payload: unknown): void;
  /** A message of the slow path has ended. */
  messageEnded(mailbox: M): void;
}

/** Runs one message through the actor's middleware. */
export interface MessagePipeline<M extends Mailbox> {
  runNext(mailbox: M): void;
}

/** Runs the turn hooks of the actor's middleware. */
export interface TurnPipeline<M extends Mailbox> {
  /** Returns how many hooks were entered. */
  enterTurn(mailbox: M): number;
  leaveTurn(mailbox: M, code: InvokeCode, entered: number): void;
}

/**
 * Runs a bounded batch of messages of one mailbox. Handlers of actors without middleware are called and
 * caught here; `MessageHooks` does the same for the others.
 */
export class MessageInvoker<M extends Mailbox = Mailbox> {
  /**
   * Messages handled in the turn; 1 between turns, so that the most frequent one need not be written down.
   */
  handled = 1;
  /** The last turn was as long as its type allows: the executor reads the clock and calls `adjustTurnMax`. */
  isClockReadDue = false;
  /** The mailbox that had the last turn. */
  lastRun: M | undefined = undefined;
  /** The last handler of the last batch or slow-path message, as it stood in the mailbox, or NO_MESSAGE. */
  lastHandler = NO_MESSAGE;
  /** The envelope being handled: deadline and call chain of the messages sent meanwhile. */
  envelope: Envelope | undefined = undefined;
  /** The message being handled on the slow path, or NO_MESSAGE. */
  currentHandler = NO_MESSAGE;
  currentPayload: unknown = undefined;
  /** Set by the handler: the current message is stashed and not answered yet. */
  stashed = false;
  /** The handler that runs on the fast path has stashed its message, which only the loop knows. */
  isStashUnfilled = false;
  private readonly ready: ReadyQueueCoordinator<M>;
  private readonly signals: SignalReceiver<M>;
  private readonly results: HandlerResultReceiver<M>;
  private readonly replies: Pick<ReplyPort, 'reply'>;
  private readonly messageHooks: MessagePipeline<M>;
  private readonly turnHooks: TurnPipeline<M>;

  constructor(
    ready: ReadyQueueCoordinator<M>,
    signals: SignalReceiver<M>,
    results: HandlerResultReceiver<M>,
    replies: Pick<ReplyPort, 'reply'>,
    messageHooks: MessagePipeline<M>,
    turnHooks: TurnPipeline<M>,
  ) {
    this.ready = ready;
    this.signals = signals;
    this.results = results;
    this.replies = replies;
    this.messageHooks = messageHooks;
    this.turnHooks = turnHooks;
  }

  /**
   * Gives ready actors their turns until the allowance (turns and messages together) is used up or no actor
   * is ready, and returns the rest of the allowance; earlier when a clock read is due. A turn is the inline
   * message of the ready entry, then up to `turnMax` messages of the mailbox. The most frequent turn, a plain
   * message to an actor with nothing else to do, is all in this loop: the compiler does not inline a function
   * that has itself grown large by inlining.
   */
  serve(allowance: number): number {
    const { ready } = this;
    let left = allowance | 0;
    let mailbox: M | undefined;
    while (left > 0 && !ready.isEmpty()) {
      const handler = ready.nextHandler;
      const payload = ready.nextPayload;
      mailbox = ready.take();
      ready.running = mailbox.slot;
      if (handler === WITHOUT_MESSAGE || (mailbox.status & NEEDS_SLOW_PATH) !== 0) {
        left = (left - this.endTurn(mailbox, this.invoke(mailbox, handler, payload))) | 0;
        if (this.isClockReadDue) break;
        continue;
      }
      // Twin of `run`: a change here is a change there.
      try {
        if (handler >= 0) {
          const run = mailbox.type.handlers[handler] as Run;
          const result = run(mailbox, payload);
          if (result !== undefined && typeof result === 'object' && result !== null) {
            this.results.returned(mailbox, result, handler, undefined);
          }
        } else {
          this.runEnvelope(mailbox, payload as Envelope);
        }
      } catch (error) {
        this.caught(mailbox, error, handler, payload);
      }
      if (mailbox.status === IS_SCHEDULED && mailbox.queue.length === 0 && this.handled === 1) {
        mailbox.status = IS_IDLE;
        left = (left - 2) | 0;
      } else {
        left = (left - this.endTurn(mailbox, this.afterInlineMessage(mailbox, handler, payload))) | 0;
        if (this.isClockReadDue) break;
      }
    }
    this.lastRun = mailbox;
    ready.running = NO_SLOT;
    return left;
  }

  /** Returns the part of the allowance that the turn took. One message is counted by the ready entry. */
  private endTurn(mailbox: M, code: InvokeCode): number {
    const { handled, ready } = this;
    this.handled = 1;
    if (handled !== 1) ready.slots.count(mailbox.slot, handled - 1);
    ready.handleInvokeResult(mailbox, code);
    return handled + 1;
  }

  /** The clock read that was due: the time since the read before, and the time that was allowed. */
  adjustTurnMax(tookMs: number, sliceMs: number): void {
    if (!this.isClockReadDue || this.lastRun === undefined) return;
    this.isClockReadDue = false;
    const { type } = this.lastRun;
    if (tookMs > sliceMs) type.turnMax = Math.max(1, Math.floor((type.turnMax * sliceMs) / tookMs));
    else if (tookMs < sliceMs / 2) type.turnMax = Math.min(2 * type.turnMax, type.throughput);
  }

  /** A turn that begins without an inline message, or on the slow path. */
  invoke(mailbox: M, handler: number, payload: unknown): InvokeCode {
    this.handled = 0;
    if ((mailbox.status & (INTERRUPTED | SLOW_PATH)) === 0) return this.runBatch(mailbox);
    return this.invokeSlow(mailbox, handler, payload);
  }

  private afterInlineMessage(mailbox: M, handler: number, payload: unknown): InvokeCode {
    if (this.isStashUnfilled) this.fillStash(mailbox, handler, payload);
    if (mailbox.queue.length === 0) return COMPLETED;
    if ((mailbox.status & INTERRUPTED) !== 0) return BLOCKED;
    // Its handler has moved it to the slow path.
    if ((mailbox.status & SLOW_PATH) !== 0) return YIELDED;
    return this.runBatch(mailbox);
  }

  private fillStash(mailbox: M, handler: number, payload: unknown): void {
    this.isStashUnfilled = false;
    this.stashed = false;
    this.results.stashed(mailbox, handler, payload);
  }

  /** Twin of the call in `serve`: a change here is a change there. */
  private run(mailbox: M, handler: number, payload: unknown): void {
    try {
      if (handler >= 0) {
        const run = mailbox.type.handlers[handler] as Run;
        const result = run(mailbox, payload);
        if (result !== undefined && typeof result === 'object' && result !== null) {
          this.results.returned(mailbox, result, handler, undefined);
        }
      } else {
        this.runEnvelope(mailbox, payload as Envelope);
      }
    } catch (error) {
      this.caught(mailbox, error, handler, payload);
    }
  }

  private runEnvelope(mailbox: M, envelope: Envelope): void {
    if (envelope.deadline < 0) {
      this.results.expired(mailbox, envelope);
      return;
    }
    this.envelope = envelope;
    const run = mailbox.type.handlers[envelope.handler] as Run;
    const result = run(mailbox, envelope.payload);
    this.envelope = undefined;
    const { stashed } = this;
    this.stashed = false;
    if (typeof result === 'object' && result !== null) {
      this.results.returned(mailbox, result, envelope.handler, stashed ? undefined : envelope);
    } else if (envelope.resolve !== undefined && !stashed) {
      this.replies.reply(envelope, result);
    }
  }

  private caught(mailbox: M, error: unknown, handler: number, payload: unknown): void {
    this.envelope = undefined;
    const envelope = isEnveloped(handler) ? (payload as Envelope) : undefined;
    this.results.failed(mailbox, error, handlerOf(handler), envelope);
  }

  /**
   * Takes no more messages than were there when the batch began: an actor that sends to itself would
   * otherwise run hundreds of times per message of its neighbours.
   */
  private runBatch(mailbox: M): InvokeCode {
    const queue = mailbox.queue;
    const most = Math.min(queue.length, mailbox.type.turnMax);
    let left = most;
    let handler = NO_MESSAGE;
    let payload: unknown;
    while (left > 0) {
      left -= 1;
      handler = queue.peek();
      payload = queue.take();
      this.run(mailbox, handler, payload);
      if ((mailbox.status & ENDS_BATCH) !== 0) break;
    }
    if (this.isStashUnfilled) this.fillStash(mailbox, handler, payload);
    const taken = most - left;
    this.lastHandler = handler;
    this.handled += taken;
    this.ready.queued -= taken;
    if ((mailbox.status & INTERRUPTED) !== 0) return BLOCKED;
    this.isClockReadDue = this.isLong(mailbox, taken);
    return queue.length === 0 ? COMPLETED : YIELDED;
  }

  /** As many messages as the type allows in a turn, so that their time can change that number. */
  private isLong({ type }: M, messages: number): boolean {
    return messages >= type.turnMax && (messages >= LONG_TURN || type.turnMax < type.throughput);
  }

  /** Signals, gates, hooks and levels. */
  private invokeSlow(mailbox: M, handler: number, payload: unknown): InvokeCode {
    if (handler !== NO_MESSAGE) this.putBack(mailbox, handler, payload);
    if (!mailbox.type.hasPipeline) return this.runSlow(mailbox);
    // A settlement opens the user lane again: only then is it known whether this turn has messages to run.
    if ((mailbox.status & SIGNALLED) !== 0) this.signals.handleSignals(mailbox);
    if ((mailbox.status & GATED) !== 0) return this.runSlow(mailbox);
    const entered = this.turnHooks.enterTurn(mailbox);
    const code = this.runSlow(mailbox);
    this.turnHooks.leaveTurn(mailbox, code, entered);
    return code;
  }

  private runSlow(mailbox: M): InvokeCode {
    let left = mailbox.type.turnMax;
    for (;;) {
      if ((mailbox.status & SIGNALLED) !== 0) this.signals.handleSignals(mailbox);
      if ((mailbox.status & TERMINATED) !== 0) return STOPPED;
      if ((mailbox.status & GATED) !== 0) return BLOCKED;
      if (mailbox.queue.length === 0) return COMPLETED;
      if (left === 0) {
        this.isClockReadDue = this.isLong(mailbox, this.handled);
        return YIELDED;
      }
      left -= 1;
      this.handled += 1;
      this.runNext(mailbox);
    }
  }

  private runNext(mailbox: M): void {
    if (mailbox.type.hasPipeline) {
      this.messageHooks.runNext(mailbox);
      this.results.messageEnded(mailbox);
      return;
    }
    this.ready.queued -= 1;
    this.currentHandler = mailbox.queue.peek();
    this.currentPayload = mailbox.queue.take();
    this.run(mailbox, this.currentHandler, this.currentPayload);
    this.endMessage();
    this.results.messageEnded(mailbox);
  }

  /** The current message does not count as handled: put back, stashed, or a dead letter. */
  discount(): void {
    this.handled -= 1;
  }

  /** Forgets the current message; true when its handler stashed it. */
  endMessage(): boolean {
    const { stashed } = this;
    this.envelope = undefined;
    this.lastHandler = this.currentHandler;
    this.currentHandler = NO_MESSAGE;
    this.currentPayload = undefined;
    this.stashed = false;
    return stashed;
  }

  private putBack(mailbox: M, handler: number, payload: unknown): void {
    mailbox.ownQueue().unshift(handler, payload);
    this.ready.queued += 1;
  }
}
