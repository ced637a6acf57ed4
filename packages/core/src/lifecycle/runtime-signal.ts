import type { Envelope } from '../message/envelope.js';
import type { AnyRef } from '../ref/actor-ref.js';
import type { StopReason } from '../runtime-event.js';
import type { FailureReport } from '../supervision/failure-report.js';

/** A message of the runtime in an actor's signal lane: always before its user messages, never dropped. */
export type Signal =
  | { readonly kind: 'start' }
  | { readonly kind: 'child-failed'; readonly report: FailureReport }
  | { readonly kind: 'child-stopped'; readonly child: AnyRef; readonly reason: StopReason }
  /** The parent's decision about this actor's failure, or about a sibling's that concerns it. */
  | { readonly kind: 'directive'; readonly directive: 'resume' | 'restart'; readonly report: FailureReport }
  /** All siblings that restart together have come to rest. */
  | { readonly kind: 'replace' }
  | { readonly kind: 'terminated'; readonly ref: AnyRef; readonly reason: StopReason }
  | { readonly kind: 'self-asked'; readonly envelope: Envelope }
  /** A name that it watches was taken or left. */
  | { readonly kind: 'name-changed'; readonly run: () => void }
  | { readonly kind: 'idle' }
  /** The actor that this proxy stands for has ended. */
  | { readonly kind: 'ended-elsewhere'; readonly reason: StopReason }
  /** `become` was called, or a transition goes on after a failure. */
  | { readonly kind: 'phase-changed' };

const OF_INCARNATION: readonly Signal['kind'][] = ['terminated', 'idle', 'name-changed', 'phase-changed'];

/**
 * Runs user code at the request of this incarnation: deferred while that code cannot run, dropped at a
 * restart.
 */
export function endsWithIncarnation(signal: Signal): boolean {
  return OF_INCARNATION.includes(signal.kind);
}
