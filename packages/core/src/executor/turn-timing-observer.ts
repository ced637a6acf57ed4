import type { Mailbox } from '../mailbox/mailbox.js';

/** The work between two clock reads of an executor. */
export interface TurnTiming<M extends Mailbox> {
  /** The mailbox that had the last turn. */
  mailbox: M;
  turns: number;
  /** Messages handled. */
  handled: number;
  ms: number;
}

/** Notified of every clock read: never more often than the executor reads the clock anyway. */
export interface TurnTimingObserver<M extends Mailbox> {
  /** True when the next turns should be timed one by one for a while: one turn among many took long. */
  onClockRead(timing: TurnTiming<M>): boolean;
}
