import type { Directive } from './define/supervision-policy.js';
import type { DeadLetter } from './message/dead-letter.js';
import type { SuspendReason } from './message/suspend-reason.js';

/** Events of the runtime. They have paths, not actors: an event must not keep an actor alive. */
export type RuntimeEvent =
  /** An actor was started; `actor` is the name of its definition. */
  | { readonly kind: 'spawned'; readonly path: string; readonly actor: string }
  /** An actor has ended. */
  | { readonly kind: 'stopped'; readonly path: string; readonly reason: StopReason }
  /** An actor failed, in a message or a hook, and its parent has decided. */
  | {
      readonly kind: 'failed';
      readonly path: string;
      readonly message: string;
      readonly error: Error;
      /** The decision; `ignored` when the actor is ending anyway. */
      readonly directive: Directive | 'ignored';
      /** The reason of the decision. */
      readonly why: string;
      /** Restarts within the window, one by this decision included, of at most `attemptsMax`. */
      readonly attempt: number;
      readonly attemptsMax: number;
      /**
       * The sends that led to it, oldest first; empty when the recorder is off. Looked up on first read, so
       * read it in the listener: later sends push older ones out.
       */
      readonly messageHistory: readonly string[];
    }
  /** An actor runs again with a new state; `restarts` counts all of them. */
  | { readonly kind: 'restarted'; readonly path: string; readonly restarts: number }
  /** A message reached no handler. */
  | { readonly kind: 'dead-letter'; readonly letter: DeadLetter }
  /** An actor handles no messages; `receiver` has to catch up first, where the actor was muted. */
  | {
      readonly kind: 'suspended';
      readonly path: string;
      readonly reason: SuspendReason;
      readonly receiver?: string;
    }
  /** A suspension has ended after `ms`. */
  | {
      readonly kind: 'resumed';
      readonly path: string;
      readonly reason: SuspendReason;
      readonly receiver?: string;
      readonly ms: number;
    }
  /** It has handled no message for `ms` while it muted these senders (the first ten): they run again. */
  | {
      readonly kind: 'stuck';
      readonly path: string;
      readonly senders: readonly string[];
      readonly ms: number;
    }
  /**
   * A thread has not looked for messages for `ms`: it is in this message, or in code outside of messages.
   */
  | {
      readonly kind: 'blocked';
      readonly thread: string;
      readonly path: string | undefined;
      readonly message: string | undefined;
      readonly ms: number;
    }
  /** A `ctx` was used after its incarnation had ended: `what` was refused. */
  | { readonly kind: 'stale-context'; readonly path: string; readonly what: string }
  /** The last of `turns` turns was this actor's; with one turn, it alone took so long. */
  | {
      readonly kind: 'long-turn';
      readonly path: string;
      readonly message: string | undefined;
      readonly turns: number;
      readonly handled: number;
      readonly ms: number;
    }
  /** At the present rate the last of `depth` messages waits this long. */
  | {
      readonly kind: 'queue-delay';
      readonly path: string;
      readonly message: string | undefined;
      readonly depth: number;
      readonly ms: number;
    }
  /** The actors of the system are asked to stop; `cause` is the failure that reached the guardian. */
  | { readonly kind: 'system-stopping'; readonly cause: Error | undefined };

const KINDS: Readonly<Record<RuntimeEvent['kind'], true>> = {
  spawned: true,
  stopped: true,
  failed: true,
  restarted: true,
  'dead-letter': true,
  suspended: true,
  resumed: true,
  'stale-context': true,
  'long-turn': true,
  'queue-delay': true,
  stuck: true,
  blocked: true,
  'system-stopping': true,
};
export const EVENT_KINDS: readonly string[] = Object.keys(KINDS);

export const STOP_REASONS = ['stopped', 'drained', 'killed', 'failed'] as const;
/**
 * How an actor ended.
 *
 *   stopped  it was stopped, by itself, its parent or the system
 *   drained  it was stopped after its backlog was handled
 *   killed   it was killed, or did not stop within its time
 *   failed   it failed, and was not started again
 */
export type StopReason = (typeof STOP_REASONS)[number];
