import type { ActorCell } from '../actor/actor-cell.js';
import type { StopReason } from '../events.js';
import type { Envelope } from '../message/envelope.js';
import type { AnyRef } from '../ref/actor-ref.js';

/** A failure on its way to the parent. */
export interface FailureReport {
  readonly child: ActorCell;
  /** Where it began: below the child, when it was escalated. */
  readonly origin: ActorCell;
  readonly error: Error;
  /** Name of the handler or hook that failed. */
  readonly message: string;
  readonly at: number;
  /** Set when it did not fail but end, and is to be started again all the same. */
  readonly ended?: StopReason;
  /** Resuming would meet the same failure at once: no state could be made, or a turn hook fails. */
  readonly unresumable: boolean;
}

/** Runtime business in an actor's signal lane: always before its messages, never dropped. */
export type Signal =
  | { readonly kind: 'start' }
  | { readonly kind: 'child-failed'; readonly report: FailureReport }
  | { readonly kind: 'child-stopped'; readonly child: AnyRef; readonly reason: StopReason }
  /** The parent's decision about this actor's failure, or about a sibling's that concerns it. */
  | { readonly kind: 'directive'; readonly directive: 'resume' | 'restart'; readonly report: FailureReport }
  /** All siblings that restart together have come to rest. */
  | { readonly kind: 'incarnate' }
  | { readonly kind: 'terminated'; readonly ref: AnyRef; readonly reason: StopReason }
  | { readonly kind: 'self-asked'; readonly envelope: Envelope }
  | { readonly kind: 'idle' };

/** Runs user code, and was asked for by this incarnation: waits while that code cannot run, ends with a restart. */
export function endsWithIncarnation(signal: Signal): boolean {
  return signal.kind === 'terminated' || signal.kind === 'idle';
}
