import { LevelledQueue } from './levelled-queue.js';
import type { MailboxSettings } from './mailbox-settings.js';
import { EMPTY_QUEUE, MessageQueue } from './message-queue.js';
import {
  AWAITING,
  CLOSED,
  DRAINING,
  FAULT,
  FENCED,
  GATED,
  KEPT_OVER_RESTART,
  KILL_REQUESTED,
  MUTED,
  OVERLOADED,
  SCHEDULED,
  SETTLED,
  SIGNALLED,
  SIGNALS,
  SLOW_PATH,
  STOP_REQUESTED,
  STOPPING,
  STUCK,
  SUSPENSION,
  TERMINATED,
} from './status-word.js';

/** Slot 0 is never given out, so 0 means no actor in links between slots. */
export const NO_SLOT = 0;

/**
 * An actor as the scheduler sees it: a slot number, the status word and the user lane. The rest of the actor
 * is in the cell that extends this class (one object, so that an idle actor stays small).
 *
 * Every transition of the status word is a method here. Two files write the word themselves, because they run
 * per message: `Delivery` (idle → scheduled) and `MessageInvoker` (scheduled → idle). `tidy` refuses a write
 * elsewhere.
 *
 *   idle ─ message, signal ─▶ scheduled ─ turn ─▶ idle
 *   scheduled ─ promise ─▶ awaiting ─ settled ─▶ scheduled
 *   any ─ throw ─▶ failed ─ directive ─▶ resumed, or fenced: its replacement takes over
 *   any ─ stop, drain, kill requested ─▶ closed ─▶ stopping ─▶ terminated
 */
export abstract class Mailbox {
  type: MailboxSettings;
  slot: number;
  status: number;
  queue: MessageQueue;

  constructor(type: MailboxSettings, slot: number) {
    this.type = type;
    this.slot = slot;
    this.status = type.idleStatus;
    this.queue = EMPTY_QUEUE;
  }

  // Scheduling.

  markScheduled(): void {
    this.status |= SCHEDULED;
  }

  markUnscheduled(): void {
    this.status &= ~SCHEDULED;
  }

  /** Signals count always, messages only while no gate is closed. */
  get hasWork(): boolean {
    const { status } = this;
    return (status & SIGNALLED) !== 0 || (this.queue.length > 0 && (status & GATED) === 0);
  }

  get isGated(): boolean {
    return (this.status & GATED) !== 0;
  }

  markSignalled(): void {
    this.status |= SIGNALS;
  }

  clearSignals(): void {
    this.status &= ~SIGNALS;
  }

  /** Sends to this mailbox take the complete path from now on. */
  useSlowPath(): void {
    this.status |= SLOW_PATH;
  }

  get isOnSlowPath(): boolean {
    return (this.status & SLOW_PATH) !== 0;
  }

  // Asynchronous handlers and hooks.

  markAwaiting(): void {
    this.status |= AWAITING;
  }

  markSettled(): void {
    this.status |= SETTLED;
  }

  clearAwaiting(): void {
    this.status &= ~(AWAITING | SETTLED);
  }

  get isAwaiting(): boolean {
    return (this.status & AWAITING) !== 0;
  }

  // Failure.

  /** The user lane is closed until the parent has decided. */
  markFailed(): void {
    this.status |= FAULT;
  }

  clearFailed(): void {
    this.status &= ~FAULT;
  }

  get isFailed(): boolean {
    return (this.status & FAULT) !== 0;
  }

  // Back-pressure.

  mute(): void {
    this.status |= MUTED;
  }

  unmute(): void {
    this.status &= ~MUTED;
  }

  get isMuted(): boolean {
    return (this.status & MUTED) !== 0;
  }

  markStuck(): void {
    this.status |= STUCK;
  }

  clearStuck(): void {
    this.status &= ~STUCK;
  }

  get isStuck(): boolean {
    return (this.status & STUCK) !== 0;
  }

  markOverloaded(): void {
    this.status |= OVERLOADED;
  }

  clearOverloaded(): void {
    this.status &= ~OVERLOADED;
  }

  get isOverloaded(): boolean {
    return (this.status & OVERLOADED) !== 0;
  }

  // Suspension: a count, since suspensions nest.

  openSuspension(): void {
    this.status += SUSPENSION;
  }

  closeSuspension(): void {
    this.status -= SUSPENSION;
  }

  // The three requests to end. Each closes the mailbox: messages sent from now on become dead letters.

  /** Ends a drain too: the rest of its backlog becomes dead letters. */
  markStopRequested(): void {
    this.status = (this.status & ~DRAINING) | STOP_REQUESTED | CLOSED;
  }

  markDrainRequested(): void {
    this.status |= STOP_REQUESTED | CLOSED | DRAINING;
  }

  markKillRequested(): void {
    this.status |= KILL_REQUESTED | CLOSED;
  }

  clearStopRequest(): void {
    this.status &= ~STOP_REQUESTED;
  }

  /** A draining actor requests its stop when its backlog is empty. */
  requestStopIfDrained(): void {
    if ((this.status & (DRAINING | STOPPING | AWAITING)) === DRAINING && this.queue.length === 0)
      this.status |= STOP_REQUESTED;
  }

  get isClosed(): boolean {
    return (this.status & CLOSED) !== 0;
  }

  get isDraining(): boolean {
    return (this.status & DRAINING) !== 0;
  }

  // The end.

  beginStop(): void {
    this.status = (this.status | STOPPING | CLOSED) & ~FAULT;
  }

  /** A kill drops the stop that was requested and the handler that has not settled. */
  beginKill(): void {
    this.status =
      (this.status | STOPPING | CLOSED) & ~(KILL_REQUESTED | STOP_REQUESTED | AWAITING | SETTLED | FAULT);
  }

  close(): void {
    this.status |= CLOSED | STOPPING;
  }

  get isStopping(): boolean {
    return (this.status & STOPPING) !== 0;
  }

  /**
   * A permanent child has ended and is started again: it takes messages, and waits for its parent's decision.
   */
  reopenAsFailed(): void {
    this.status = (this.status & ~(STOPPING | CLOSED | DRAINING | STOP_REQUESTED | KILL_REQUESTED)) | FAULT;
  }

  /** The bits of the suspension count hold `code`, which says how the actor ended. */
  markTerminated(code: number): void {
    this.status = (this.status & SCHEDULED) | TERMINATED | CLOSED | (code * SUSPENSION);
    this.queue = EMPTY_QUEUE;
  }

  get isTerminated(): boolean {
    return (this.status & TERMINATED) !== 0;
  }

  get terminationCode(): number {
    return (this.status / SUSPENSION) | 0;
  }

  /** Takes messages, requests and suspensions over from the incarnation before, which is fenced for good. */
  takeOver(earlier: Mailbox): void {
    this.queue = earlier.queue;
    this.status |= earlier.status & KEPT_OVER_RESTART;
    if (this.isDraining) this.status |= STOP_REQUESTED;
    earlier.fence();
  }

  private fence(): void {
    this.status = FENCED | CLOSED;
    this.queue = EMPTY_QUEUE;
  }

  /** False once a restart or the end has taken this incarnation's place. */
  get isCurrent(): boolean {
    return (this.status & (FENCED | TERMINATED)) === 0;
  }

  /** No turn of this incarnation comes any more. */
  abstract afterLastTurn(): void;

  // The user lane.

  get isFull(): boolean {
    return this.queue.length >= this.type.capacity;
  }

  /** A mailbox gets a queue of its own with its second message. */
  ownQueue(): MessageQueue {
    if (this.queue === EMPTY_QUEUE) {
      const { levels } = this.type;
      this.queue = levels === undefined ? new MessageQueue() : new LevelledQueue(levels);
    }
    return this.queue;
  }
}
