import type { ActorCell } from '../actor/actor-cell.js';
import type { StopReason } from '../runtime-event.js';

/** A failure on its way to the parent. */
export interface FailureReport {
  readonly child: ActorCell;
  /** The actor where the failure began: below the child, when it was escalated. */
  readonly origin: ActorCell;
  readonly error: Error;
  /** Name of the handler or hook that failed. */
  readonly message: string;
  readonly at: number;
  /** Set for a permanent child that has ended without a failure and is started again. */
  readonly ended?: StopReason | undefined;
  /** Resuming would meet the same failure at once: no state could be made, or a turn hook fails. */
  readonly unresumable: boolean;
  /** It cannot be started: a restart would fail in the same way. */
  readonly isFinal: boolean;
  /** The sends before it on another thread, on which the actor runs. */
  readonly messagesThere?: readonly string[] | undefined;
}

/** Place of a failure outside a handler that has run to its end. */
export interface FailureCircumstances {
  readonly hook?: string | undefined;
  /** The actor that failed first, when the failure was escalated. */
  readonly origin?: ActorCell | undefined;
  /** The handler may still be running, so its state cannot be used any more. */
  readonly isCutOff?: boolean | undefined;
  readonly isFinal?: boolean | undefined;
  readonly messagesThere?: readonly string[] | undefined;
}
