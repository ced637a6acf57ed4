// Hot path: no allocation per message.

import type { FlightRecorder } from '../inspect/flight-recorder.js';
import type { SenderMuting } from '../mailbox/back-pressure.js';
import type { Mailbox } from '../mailbox/mailbox.js';
import { NO_SLOT } from '../mailbox/mailbox.js';
import { SCHEDULED } from '../mailbox/status-word.js';
import { NO_MESSAGE } from '../message/envelope.js';
import type { InvokeCode } from './invoke-result.js';
import { STOPPED } from './invoke-result.js';
import { Slots } from './slots.js';

const ENTRIES_FIRST = 1024;

/** Starts the executor. Called once when the ready ring is no longer empty. */
export interface Waker {
  wake(): void;
}

/**
 * The ready queue: a ring of slots that have something to do, each in it at most once.
 *
 *   entries:   … | slot handler sender – | slot handler sender – | …      integers: no write barrier
 *   payloads:  … |        payload        |        payload        | …
 *                  ↑ head                                          ↑ tail
 *
 * The first message to an idle actor travels inline in its ready entry, so an actor with one message at a
 * time never needs a queue. An inline message is older than everything in the mailbox: it must be handled
 * first, or put back before the rest. Entries are not cleared when they are taken: the flight recorder reads
 * the last sends from them.
 */
export class ReadyQueueCoordinator<M extends Mailbox = Mailbox> {
  readonly slots = new Slots<M>();
  readonly backPressure: SenderMuting<M>;
  /** Messages in mailboxes, without inline messages; bounded by `queuedMax`. */
  queued = 0;
  readonly queuedMax: number;
  /** The slot of the actor whose handler is running: messages that it sends are attributed to it. */
  running = NO_SLOT;
  /** The present send is a `ctx.tell` after an `await`: the actor named by `running` does not run. */
  isAfterAwait = false;
  awake = false;

  private entries = new Int32Array(4 * ENTRIES_FIRST);
  private payloads: unknown[] = new Array<unknown>(ENTRIES_FIRST).fill(undefined);
  private mask = ENTRIES_FIRST - 1;
  private head = 0;
  private tail = 0;
  /** Entries taken before the lap that `head` is on. */
  private lapped = 0;
  /** From here to `head` entries are not counted yet: they may not be written over. */
  private tallied = 0;
  private readonly waker: Waker;
  private readonly recorder: FlightRecorder | undefined;

  constructor(
    waker: Waker,
    backPressure: SenderMuting<M>,
    queuedMax: number,
    recorder: FlightRecorder | undefined,
  ) {
    this.recorder = recorder;
    this.waker = waker;
    this.backPressure = backPressure;
    this.queuedMax = queuedMax;
  }

  get depth(): number {
    return (this.tail - this.head) & this.mask;
  }

  /** Inline messages in ready entries. Walks the ring: for reports only. */
  get inlineMessages(): number {
    let inlineMessages = 0;
    for (let i = this.head; i !== this.tail; i = (i + 1) & this.mask) {
      if (this.entries[4 * i + 1] !== NO_MESSAGE) inlineMessages += 1;
    }
    return inlineMessages;
  }

  /** Their payloads, which may be envelopes. */
  get inlinePayloads(): unknown[] {
    const payloads: unknown[] = [];
    for (let i = this.head; i !== this.tail; i = (i + 1) & this.mask) {
      if (this.entries[4 * i + 1] !== NO_MESSAGE) payloads.push(this.payloads[i]);
    }
    return payloads;
  }

  /** Only for a mailbox that was idle: schedules it together with its first message. */
  registerWithMessage(slot: number, handler: number, payload: unknown): void {
    const tail = this.tail;
    const entries = this.entries;
    const at = tail << 2;
    entries[at] = slot;
    entries[at + 1] = handler;
    entries[at + 2] = this.running;
    this.payloads[tail] = payload;
    const next = (tail + 1) & this.mask;
    this.tail = next;
    if (next === this.tallied) this.makeRoom();
    if (!this.awake) this.waker.wake();
  }

  /**
   * Schedules a mailbox that has something to do; does nothing when it is scheduled already or may not run.
   */
  registerReady(mailbox: M): void {
    if ((mailbox.status & SCHEDULED) !== 0 || !mailbox.hasWork) return;
    mailbox.markScheduled();
    this.registerWithMessage(mailbox.slot, NO_MESSAGE, undefined);
  }

  /**
   * Position in the order of all entries; drawn from the ring itself, so that counting costs nothing per
   * send.
   */
  get sequence(): number {
    return this.taken + this.depth;
  }

  /** Entries taken since the system began: as many as turns were given. */
  get taken(): number {
    return this.lapped + this.head;
  }

  /** The handler of the inline message of the last taken entry; NO_MESSAGE without one. */
  get lastInlineHandler(): number {
    const at = ((this.head - 1) & this.mask) << 2;
    return this.entries[at] === NO_SLOT ? NO_MESSAGE : (this.entries[at + 1] as number);
  }

  /** The last sends with inline messages, newest first; ends when `visit` returns false. */
  visitInlineSends(
    visit: (sequence: number, sender: number, receiver: number, handler: number) => boolean,
  ): void {
    const { entries, mask, sequence } = this;
    for (let back = 1; back <= mask; back += 1) {
      const at = ((this.tail - back) & mask) << 2;
      const receiver = entries[at] as number;
      if (receiver === NO_SLOT) return;
      if (!visit(sequence - back, entries[at + 2] as number, receiver, entries[at + 1] as number)) return;
    }
  }

  isEmpty(): boolean {
    return this.head === this.tail;
  }

  /**
   * The inline message of the next entry: a handler number, that of an envelope, or NO_MESSAGE. Only while
   * not empty.
   */
  get nextHandler(): number {
    return this.entries[(this.head << 2) + 1] as number;
  }

  get nextPayload(): unknown {
    return this.payloads[this.head];
  }

  /** Takes the next entry; its inline message must have been read before. Only while not empty. */
  take(): M {
    const head = this.head;
    this.payloads[head] = undefined;
    const next = (head + 1) & this.mask;
    this.head = next;
    if (next === 0) this.lapped += head + 1;
    return this.slots.mailboxes[this.entries[head << 2] as number] as M;
  }

  /**
   * Counts one message for each taken entry, many at once: cheaper than an addition in every turn. The
   * difference of a turn with more or fewer messages is added when it ends.
   */
  private tally(): void {
    const { entries, slots, head, tallied, mask } = this;
    if (head < tallied) {
      slots.countEntries(entries, tallied, mask + 1);
      slots.countEntries(entries, 0, head);
    } else {
      slots.countEntries(entries, tallied, head);
    }
    this.tallied = head;
  }

  /** Messages that the actor in the slot has handled before the present turn. */
  handledBy(slot: number): number {
    this.tally();
    return this.slots.handledBy(slot) - (slot === this.running ? 1 : 0);
  }

  /**
   * Messages handled by all actors there ever were, but not those of the present turn. Walks the slots: for
   * reports only.
   */
  get handledTotal(): number {
    this.tally();
    return this.slots.handledTotal - (this.running === NO_SLOT ? 0 : 1);
  }

  /** Lets the k-th entry from the front go first: how a seeded executor chooses another legal order. */
  promote(k: number): void {
    const first = this.head;
    const other = (first + k) & this.mask;
    const { entries, payloads } = this;
    for (let i = 0; i < 3; i += 1) {
      const swapped = entries[4 * first + i] as number;
      entries[4 * first + i] = entries[4 * other + i] as number;
      entries[4 * other + i] = swapped;
    }
    const payload = payloads[first];
    payloads[first] = payloads[other];
    payloads[other] = payload;
  }

  /**
   * Decides what becomes of a mailbox after its turn: requeue, park or remove. SCHEDULED is cleared first and
   * the mailbox checked again, so a message that arrived during the turn is never left behind.
   */
  handleInvokeResult(mailbox: M, code: InvokeCode): void {
    mailbox.markUnscheduled();
    if (code === STOPPED || !mailbox.isCurrent) {
      if (mailbox.isTerminated) this.releaseSlot(mailbox.slot);
      mailbox.afterLastTurn();
      return;
    }
    if (mailbox.isOverloaded) this.backPressure.releaseIfCaughtUp(mailbox);
    mailbox.requestStopIfDrained();
    this.registerReady(mailbox);
  }

  private releaseSlot(slot: number): void {
    this.tally();
    this.slots.release(slot);
    this.recorder?.slotReleased(slot, this.sequence);
  }

  private makeRoom(): void {
    this.tally();
    if (this.tail === this.head) this.grow();
  }

  private grow(): void {
    const { entries, payloads, head, mask } = this;
    const size = mask + 1;
    const nextEntries = new Int32Array(8 * size);
    const nextPayloads = new Array<unknown>(2 * size).fill(undefined);
    for (let i = 0; i < size; i += 1) {
      const from = (head + i) & mask;
      nextEntries.set(entries.subarray(4 * from, 4 * from + 4), 4 * i);
      nextPayloads[i] = payloads[from];
    }
    this.entries = nextEntries;
    this.payloads = nextPayloads;
    this.lapped = this.taken;
    this.mask = 2 * size - 1;
    this.head = 0;
    this.tail = size;
    this.tallied = 0;
  }
}
