import type { HandlerMap, PayloadArgs } from '../define/actor-definition.js';

export interface TimerOptions {
  /**
   * A timer with the same key of the same actor is replaced. Default: none, only the timer itself cancels it.
   */
  readonly key?: string | undefined;
}

/** An armed timer. */
export interface ActorTimer {
  /** It has not fired for the last time and was not cancelled. */
  readonly active: boolean;
  /** Does nothing when it has fired or was cancelled. */
  cancel(): void;
}

/** The messages of a ref, sent when the timer fires. */
export type TimerMethods<H extends HandlerMap> = {
  readonly [K in keyof H]: (...payload: PayloadArgs<H[K]>) => ActorTimer;
};
