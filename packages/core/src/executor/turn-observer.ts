import type { Mailbox } from '../mailbox/mailbox.js';

/** What an executor knows whenever it looks at the clock. Reused: the same object every time. */
export interface TurnTiming<M extends Mailbox> {
  /** Who ran last before the look. */
  mailbox: M;
  /** Turns and messages since the look before. */
  turns: number;
  handled: number;
  /** Milliseconds since the look before. */
  ms: number;
}

/** Told of every look at the clock: never more often than the executor looks anyway. */
export interface TurnObserver<M extends Mailbox> {
  /** True when the turns to come should be onClockRead at one by one for a while: somebody among many took long. */
  onClockRead(look: TurnTiming<M>): boolean;
}
