// Hot path: no promise, closure or macrotask per message while the pump is running.
import type { Host } from '../host.js';
import type { Mailbox } from '../mailbox/mailbox.js';
import { AttachedExecutor, type Executor } from './executor.js';
import type { TimeSlice } from './time-slice.js';

/**
 * How often the pump asks whether its slice is spent, in messages; a clock read costs as much as a message.
 */
const CHECK_EVERY_MAX = 512;
/**
 * In every turn of the event loop the first clock read comes early, each further one at most twice as late.
 */
const CHECK_EVERY_FIRST = 32;
const ARMS_PER_CHECK = 16;
/** Turns that are timed one by one after several turns together took long. */
const PER_TURN_READS = 4096;

export type ExecutorState = 'running' | 'stopped';

/**
 * The pump: take a ready actor, give it a turn, report the result; over and over in bounded slices.
 *
 * From idle it is armed once per burst by a microtask, so an ask costs no macrotask. When the slice of this
 * turn of the event loop is spent, it goes on after the loop has served its timers and sockets.
 */
export class WorkerExecutor<M extends Mailbox = Mailbox> extends AttachedExecutor<M> implements Executor<M> {
  /** Set when a slice starts, refreshed by the pump: deadlines are computed from it without a clock read. */
  coarseNow: number;
  state: ExecutorState = 'running';
  readonly slice: TimeSlice;
  private readonly host: Host;
  private turnOpen = false;
  private turnStart = 0;
  private arms = 0;
  private checkEvery = CHECK_EVERY_FIRST;
  private readonly pumpNow = () => this.pump();
  /** Turns and messages together since the last clock read. */
  private doneSinceRead = 0;
  /** Entries of the ready ring that were taken before the last clock read. */
  private takenAtRead = 0;
  private perTurnReadsLeft = 0;
  private readonly closeTurn = () => {
    this.turnOpen = false;
    this.reportUntimed();
    this.onTurnEnd();
  };

  constructor(host: Host, slice: TimeSlice) {
    super();
    this.host = host;
    this.slice = slice;
    this.coarseNow = host.now();
  }

  /** The time now, at most one slice old. */
  now(): number {
    if (!this.turnOpen) this.openTurn();
    return this.coarseNow;
  }

  wake(): void {
    if (this.state === 'stopped') return;
    this.ready.awake = true;
    if (this.mayPump()) this.host.soon(this.pumpNow);
    else this.yieldToLoop();
  }

  resume(mailbox: M): void {
    const { ready } = this;
    if (ready.awake || this.state === 'stopped') {
      ready.registerReady(mailbox);
      return;
    }
    ready.awake = true;
    ready.registerReady(mailbox);
    if (this.mayPump()) this.pump();
    else this.yieldToLoop();
  }

  /**
   * Bursts may follow each other without end in one turn of the event loop: now and then the clock is read.
   */
  private mayPump(): boolean {
    if (!this.turnOpen) {
      this.openTurn();
      return true;
    }
    this.arms += 1;
    if (this.arms % ARMS_PER_CHECK !== 0) return true;
    this.coarseNow = this.host.now();
    return this.coarseNow - this.turnStart < this.slice.ms;
  }

  stop(): void {
    this.state = 'stopped';
  }

  private openTurn(): void {
    this.turnOpen = true;
    this.arms = 0;
    this.checkEvery = Math.min(this.checkEvery, CHECK_EVERY_FIRST);
    this.turnStart = this.host.now();
    this.coarseNow = this.turnStart;
    this.host.later(this.closeTurn);
  }

  private pump(): void {
    const { ready, invoker } = this;
    try {
      let spent = false;
      while (!spent && !ready.isEmpty()) {
        const left = invoker.serve(this.checkEvery);
        this.doneSinceRead += this.checkEvery - left;
        if (left <= 0 || invoker.isClockReadDue) spent = this.checkSlice();
      }
    } finally {
      // Also when the host's clock throws: a ready actor must not wait for ever.
      if (ready.isEmpty() || this.state === 'stopped') ready.awake = false;
      else this.yieldToLoop();
    }
  }

  /** Reads the clock, and sets the distance to the next read, so that slow handlers are timed more often. */
  private checkSlice(): boolean {
    const before = this.coarseNow;
    const done = this.doneSinceRead;
    const now = this.host.now();
    this.coarseNow = now;
    this.invoker.adjustTurnMax(now - before, this.slice.ms);
    this.report(now - before);
    const perMessage = (now - before) / done;
    const next = Math.ceil(this.slice.ms / 8 / Math.max(perMessage, 1e-6));
    const most = Math.min(2 * this.checkEvery, CHECK_EVERY_MAX);
    this.checkEvery = this.perTurnReadsLeft > 0 ? 1 : Math.max(1, Math.min(next, most));
    return now - this.turnStart >= this.slice.ms;
  }

  /** A turn of the event loop without a clock read may still have taken long. */
  private reportUntimed(): void {
    if (this.doneSinceRead === 0) return;
    const before = this.coarseNow;
    this.coarseNow = this.host.now();
    this.report(this.coarseNow - before);
  }

  private report(ms: number): void {
    const { lastRun } = this.invoker;
    const turns = this.ready.taken - this.takenAtRead;
    const handled = this.doneSinceRead - turns;
    this.doneSinceRead = 0;
    this.takenAtRead = this.ready.taken;
    if (this.perTurnReadsLeft > 0) this.perTurnReadsLeft -= 1;
    if (lastRun === undefined) return;
    if (this.observer?.onClockRead({ mailbox: lastRun, turns, handled, ms }) !== true) return;
    this.perTurnReadsLeft = PER_TURN_READS;
    // Also after a burst without a clock read: the next one may be as short.
    this.checkEvery = 1;
  }

  private yieldToLoop(): void {
    const yieldedAt = this.coarseNow;
    this.host.later(() => {
      this.openTurn();
      this.slice.adapt(this.turnStart - yieldedAt);
      this.pump();
    });
  }
}
