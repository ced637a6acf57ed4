// Hot path: no allocation per message.
import type { Mailbox } from '../mailbox/mailbox.js';
import { EMPTY_QUEUE, MessageQueue } from '../mailbox/message-queue.js';
import {
  GATED,
  IDLE,
  INTERRUPTED,
  SCHEDULED,
  SIGNALLED,
  SLOW_PATH,
  TERMINATED,
} from '../mailbox/status-word.js';
import { type Envelope, handlerOf, isEnveloped } from '../message/envelope.js';
import { BLOCKED, COMPLETED, type InvokeCode, STOPPED, YIELDED } from '../run-queue/invoke-result.js';
import { NO_MESSAGE, type ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';
import { NO_SLOT } from '../run-queue/slots.js';

type Run = (context: unknown, payload: unknown) => unknown;

// Constants of this module are part of the compiled loop; imported ones would be loaded and checked at every use (ADR 0028).
const IS_IDLE = IDLE;
const ENDS_BATCH = INTERRUPTED;
const IS_SCHEDULED = SCHEDULED;
const NEEDS_SLOW_PATH = INTERRUPTED | SLOW_PATH;
const WITHOUT_MESSAGE = NO_MESSAGE;

/** Messages in a turn that make a look at the clock worth its price. */
const LONG_TURN = 64;

/** What the invoker leaves to the actor itself. */
export interface Lifecycle<M extends Mailbox> {
  /** Handles everything in the signal lane. */
  handleSignals(mailbox: M): void;
  /** A handler threw. */
  failed(mailbox: M, error: unknown, handler: number, envelope: Envelope | undefined): void;
  /** A handler returned an object: a promise to wait for, a reply for later, or just a value. */
  returned(mailbox: M, result: object, handler: number, envelope: Envelope | undefined): void;
  reply(envelope: Envelope, value: unknown): void;
  /** Nobody waits for the reply any more: the message is not run. */
  expired(mailbox: M, envelope: Envelope): void;
  /** Messages were handled with care. */
  messageEnded(mailbox: M): void;
  /** Runs one message through the actor's middleware. */
  runThroughPipeline(mailbox: M): void;
  /** TurnHookContext hooks; returns how many were entered, or -1 when one of them threw. */
  enterTurn(mailbox: M): number;
  leaveTurn(mailbox: M, code: InvokeCode, entered: number): void;
}

/** Runs a bounded batch of messages of one mailbox: the only place where user handlers are called and caught. */
export class MessageInvoker<M extends Mailbox = Mailbox> {
  /** Messages handled in the turn; 1 between turns, so that the most frequent one need not be written down. */
  handled = 1;
  /** The last turn was as long as its type is allowed: somebody should look at the clock and tell `adjustTurnMax`. */
  isClockReadDue = false;
  /** Who had the last turn. */
  lastRun: M | undefined = undefined;
  /** The handler that the last batch or message with care ended with, as it stood in the mailbox, or NO_MESSAGE. */
  lastHandler = NO_MESSAGE;
  /** The envelope being handled, for deadline and call chain of what is sent meanwhile. */
  envelope: Envelope | undefined = undefined;
  /** The message being handled with care (see `invokeSlow`), or NO_MESSAGE. */
  currentHandler = NO_MESSAGE;
  currentPayload: unknown = undefined;
  /** Set by the handler: the current message is put aside and not answered yet. */
  stashed = false;
  private readonly ready: ReadyQueueCoordinator<M>;
  private readonly lifecycle: Lifecycle<M>;

  constructor(ready: ReadyQueueCoordinator<M>, lifecycle: Lifecycle<M>) {
    this.ready = ready;
    this.lifecycle = lifecycle;
  }

  /**
   * Gives ready actors their turns until the allowance (turns and messages together) is used up or nobody is ready, and
   * returns what is left of it; earlier when a look at the clock is due. A turn is the message that rode with the ready
   * entry, then up to `turnMax` from the mailbox. The most frequent one, a plain message to an actor with nothing else to
   * do, is all in this loop: the compiler does not inline a function into it that has itself grown large by inlining.
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
      try {
        if (handler >= 0) {
          const run = mailbox.type.handlers[handler] as Run;
          const result = run(mailbox, payload);
          if (result !== undefined && typeof result === 'object' && result !== null) {
            this.lifecycle.returned(mailbox, result, handler, undefined);
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
        left = (left - this.endTurn(mailbox, this.afterInlineMessage(mailbox))) | 0;
        if (this.isClockReadDue) break;
      }
    }
    this.lastRun = mailbox;
    ready.running = NO_SLOT;
    return left;
  }

  /** Returns what the turn takes of the allowance. One message is counted by the ready entry. */
  private endTurn(mailbox: M, code: InvokeCode): number {
    const { handled, ready } = this;
    this.handled = 1;
    if (handled !== 1) ready.slots.count(mailbox.slot, handled - 1);
    ready.handleInvokeResult(mailbox, code);
    return handled + 1;
  }

  /** What the due look has shown: so long took what was done since the look before, and so long it may take. */
  adjustTurnMax(tookMs: number, sliceMs: number): void {
    if (!this.isClockReadDue || this.lastRun === undefined) return;
    this.isClockReadDue = false;
    const { type } = this.lastRun;
    if (tookMs > sliceMs) type.turnMax = Math.max(1, Math.floor((type.turnMax * sliceMs) / tookMs));
    else if (tookMs < sliceMs / 2) type.turnMax = Math.min(2 * type.turnMax, type.throughput);
  }

  /** A turn that begins without a ride, or that needs care. */
  invoke(mailbox: M, handler: number, payload: unknown): InvokeCode {
    this.handled = 0;
    if ((mailbox.status & (INTERRUPTED | SLOW_PATH)) === 0) return this.runBatch(mailbox);
    return this.invokeSlow(mailbox, handler, payload);
  }

  private afterInlineMessage(mailbox: M): InvokeCode {
    if (mailbox.queue.length === 0) return COMPLETED;
    if ((mailbox.status & INTERRUPTED) !== 0) return BLOCKED;
    return this.runBatch(mailbox);
  }

  private run(mailbox: M, handler: number, payload: unknown): void {
    try {
      if (handler >= 0) {
        const run = mailbox.type.handlers[handler] as Run;
        const result = run(mailbox, payload);
        if (result !== undefined && typeof result === 'object' && result !== null) {
          this.lifecycle.returned(mailbox, result, handler, undefined);
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
      this.lifecycle.expired(mailbox, envelope);
      return;
    }
    this.envelope = envelope;
    const run = mailbox.type.handlers[envelope.handler] as Run;
    const result = run(mailbox, envelope.payload);
    this.envelope = undefined;
    const { stashed } = this;
    this.stashed = false;
    if (typeof result === 'object' && result !== null) {
      this.lifecycle.returned(mailbox, result, envelope.handler, stashed ? undefined : envelope);
    } else if (envelope.resolve !== undefined && !stashed) {
      this.lifecycle.reply(envelope, result);
    }
  }

  private caught(mailbox: M, error: unknown, handler: number, payload: unknown): void {
    this.envelope = undefined;
    const envelope = isEnveloped(handler) ? (payload as Envelope) : undefined;
    this.lifecycle.failed(mailbox, error, handlerOf(handler), envelope);
  }

  /**
   * Takes no more than what was there when the batch began: else an actor that sends to itself would run hundreds of
   * times per message of its neighbours.
   */
  private runBatch(mailbox: M): InvokeCode {
    const queue = mailbox.queue;
    const most = Math.min(queue.length, mailbox.type.turnMax);
    let left = most;
    let handler = NO_MESSAGE;
    while (left > 0) {
      left -= 1;
      handler = queue.peek();
      this.run(mailbox, handler, queue.take());
      if ((mailbox.status & ENDS_BATCH) !== 0) break;
    }
    const taken = most - left;
    this.lastHandler = handler;
    this.handled += taken;
    this.ready.queued -= taken;
    if ((mailbox.status & INTERRUPTED) !== 0) return BLOCKED;
    this.isClockReadDue = this.isLong(mailbox, taken);
    return queue.length === 0 ? COMPLETED : YIELDED;
  }

  /** As many messages as its type may have at a time, and there is something to learn from how long they took. */
  private isLong({ type }: M, messages: number): boolean {
    return messages >= type.turnMax && (messages >= LONG_TURN || type.turnMax < type.throughput);
  }

  /** Signals, gates, hooks and levels: everything that is not a plain batch. */
  private invokeSlow(mailbox: M, handler: number, payload: unknown): InvokeCode {
    if (handler !== NO_MESSAGE) this.putBack(mailbox, handler, payload);
    if (!mailbox.type.hasPipeline) return this.runSlow(mailbox);
    // What settles now opens the user lane again: only then is it known whether this turn has messages to run.
    if ((mailbox.status & SIGNALLED) !== 0) this.lifecycle.handleSignals(mailbox);
    if ((mailbox.status & GATED) !== 0) return this.runSlow(mailbox);
    const entered = this.lifecycle.enterTurn(mailbox);
    const code = this.runSlow(mailbox);
    this.lifecycle.leaveTurn(mailbox, code, entered);
    return code;
  }

  private runSlow(mailbox: M): InvokeCode {
    let left = mailbox.type.turnMax;
    for (;;) {
      if ((mailbox.status & SIGNALLED) !== 0) this.lifecycle.handleSignals(mailbox);
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
      this.lifecycle.runThroughPipeline(mailbox);
      return;
    }
    this.ready.queued -= 1;
    this.currentHandler = mailbox.queue.peek();
    this.currentPayload = mailbox.queue.take();
    this.run(mailbox, this.currentHandler, this.currentPayload);
    this.endMessage();
    this.lifecycle.messageEnded(mailbox);
  }

  /** The message at hand does not count as handled after all: put back, put aside, or a dead letter. */
  discount(): void {
    this.handled -= 1;
  }

  /** Forgets the current message; true when its handler put it aside. */
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
    if (mailbox.queue === EMPTY_QUEUE) mailbox.queue = new MessageQueue();
    mailbox.queue.unshift(handler, payload);
    this.ready.queued += 1;
  }
}
