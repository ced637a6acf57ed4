import type { Host } from '../host.js';
import type { DeadLetterReason } from '../message/dead-letter.js';
import type { ResumeCondition, SuspendReason } from '../message/suspend-reason.js';
import type { InvokeResult } from '../run-queue/invoke-result.js';
import type { ActorSystem } from '../system.js';

/** The message of a hook call. The same object before and after the handler, so hooks may use it as a key. */
export interface MessageView {
  /** Path of the receiving actor. */
  readonly path: string;
  /** Name of its definition. */
  readonly actor: string;
  /** Name of the message. */
  readonly message: string;
  /** The payload; undefined for a message without one. */
  readonly payload: unknown;
  /** Path of the sender, where it is known. */
  readonly from: string | undefined;
  /** True when a reply is awaited. */
  readonly asked: boolean;
  /** Milliseconds until the reply is no longer wanted; infinite without a deadline. */
  readonly remainingMs: number;
  /** The value that this middleware's own `onSend` returned. */
  readonly context: unknown;
  /**
   * True when the handler is declared `retryable`; false for one that was given up at its time limit and runs
   * on.
   */
  readonly retryable: boolean;
  /** How often this message was put back for another try. */
  readonly retries: number;
  /** Monotonic milliseconds at which the hook runs. Reading it costs as much as some handlers do. */
  readonly now: number;
  /** The time of the executor's last clock read: not later than `now`, and free. */
  readonly coarseNow: number;
}

/** A message that is being sent, before it is in the mailbox. */
export interface SendView {
  /** Path of the receiving actor. */
  readonly path: string;
  /** Name of its definition. */
  readonly actor: string;
  /** Name of the message. */
  readonly message: string;
  /** The payload; undefined for a message without one. */
  readonly payload: unknown;
  /** Path of the sender, where it is known. */
  readonly from: string | undefined;
  /** Context of the message the sender is handling, so that one trace shows the whole chain. */
  readonly cause: unknown;
  /**
   * Of a message that a timer sends: context of the message that was being handled when the timer was armed.
   */
  readonly armedBy: unknown;
  /** Monotonic milliseconds at which the hook runs. */
  readonly now: number;
}

/** A message between two threads, whose context is packed or unpacked. */
export interface CrossingView {
  /** Path of the receiving actor. */
  readonly path: string;
  /** Name of its definition. */
  readonly actor: string;
  /** Name of the message. */
  readonly message: string;
  /** Monotonic milliseconds of the thread on which the hook runs; every thread has a clock of its own. */
  readonly now: number;
}

/** A message that reaches no handler, though `onSend` has seen it. */
export interface DeadLetterView {
  /** Path of the receiving actor. */
  readonly path: string;
  /** Name of its definition. */
  readonly actor: string;
  /** Name of the message. */
  readonly message: string;
  /** The payload; undefined for a message without one. */
  readonly payload: unknown;
  /** Why no handler gets it. */
  readonly reason: DeadLetterReason;
  /** The value that this middleware's own `onSend` returned. */
  readonly context: unknown;
  /** Monotonic milliseconds at which the hook runs. */
  readonly now: number;
}

/** One turn of one actor. The same object before and after, so hooks may use it as a key. */
export interface TurnView {
  /** Path of the actor. */
  readonly path: string;
  /** Name of its definition. */
  readonly actor: string;
  /** Messages waiting when the turn began. */
  readonly depth: number;
  /** Monotonic milliseconds at which the turn began. */
  readonly startedAt: number;
  /** Known after the turn; until then the time it began. */
  readonly endedAt: number;
  /** Messages taken from the mailbox in this turn; 0 until it has ended. */
  readonly handled: number;
}

export type Verdict =
  /**
   * With `withinMs`: an asynchronous handler that has not settled by then is aborted and has failed (ADR
   * 0114).
   */
  | { readonly verdict: 'continue'; readonly withinMs?: number }
  /** The message stays at the head of its mailbox; the actor is suspended until the condition is met. */
  | { readonly verdict: 'hold'; readonly reason: SuspendReason; readonly resumeOn: ResumeCondition }
  /** The message becomes a dead letter and its ask fails. */
  | { readonly verdict: 'refuse'; readonly why: string }
  /** The handler is not run; the asker gets this reply. */
  | { readonly verdict: 'answer'; readonly reply: unknown };

/** `ms` is the time the handler took. */
export type Outcome =
  /** The handler has settled with this reply. */
  | { readonly kind: 'handled'; readonly reply: unknown; readonly ms: number }
  /** The handler threw or rejected. */
  | { readonly kind: 'failed'; readonly error: Error; readonly ms: number }
  /**
   * A later middleware or the actor's phase did not let it through, or its handler stashed it: nothing was
   * handled, and a count or permit that was taken must be given back.
   */
  | { readonly kind: 'held' }
  /** A middleware refused it. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The actor was killed or restarted while its handler was awaiting: its result is not known. */
  | { readonly kind: 'abandoned'; readonly ms: number };

/** Asks for another try of a `retryable` handler that failed. */
export interface RetryRequest {
  readonly retryAfterMs: number;
}

/**
 * Hooks around the turns and messages of the actors that it is installed for. Hooks before are called in the
 * order of installation, hooks after in reverse, and only those of middleware that was entered. A hook that
 * throws is a failure of that actor.
 */
export interface Middleware {
  /** For errors and metrics. */
  readonly name: string;
  /** Before the first message of a turn. */
  readonly beforeTurn?: ((turn: TurnView) => void) | undefined;
  /** After the last message of a turn, with the reason of its end. */
  readonly afterTurn?: ((turn: TurnView, result: InvokeResult) => void) | undefined;
  /** Before the handler: lets the message through, holds, refuses or answers it. */
  readonly beforeMessage?: (message: MessageView) => Verdict | undefined;
  /** After the handler, or after it was not run; may ask for another try. */
  readonly afterMessage?: (message: MessageView, outcome: Outcome) => RetryRequest | undefined;
  /**
   * Outcomes that `afterMessage` is called for. Default all; without `handled`, successful messages cost
   * nothing.
   */
  readonly outcomes?: readonly Outcome['kind'][] | undefined;
  /**
   * False: its `afterMessage` never reads `Outcome.ms`. If this is so for all middleware, handlers are not
   * timed, which may be most of the cost of a small handler; `ms` is then NaN. Default true.
   */
  readonly timesHandlers?: boolean | undefined;
  /**
   * Calls `run` once and returns its result: for code that must surround the handler itself, such as an
   * ambient context. Everything else is cheaper and simpler in `beforeMessage` and `afterMessage`.
   */
  readonly around?: ((message: MessageView, run: () => unknown) => unknown) | undefined;
  /** Its value travels with the message as `MessageView.context`. */
  readonly onSend?: ((send: SendView) => unknown) | undefined;
  /**
   * Only with `onSend`: the context as data, for an actor on another thread. Default: the context itself,
   * which must then be cloneable.
   */
  readonly packContext?: ((context: unknown, crossing: CrossingView) => unknown) | undefined;
  /**
   * The context of those data, on the thread of the actor, where a middleware of the same name is installed.
   * Default: the data themselves.
   */
  readonly unpackContext?: ((packed: unknown, crossing: CrossingView) => unknown) | undefined;
  /**
   * Only with `onSend`: a message with its context has become a dead letter. An error that it throws is only
   * logged.
   */
  readonly onDeadLetter?: ((lost: DeadLetterView) => void) | undefined;
  /**
   * Wraps the host of its system: to receive its log lines, or to run its callbacks in another async context.
   * Only for middleware that is given to `createSystem`.
   */
  readonly wrapHost?: ((host: Host) => Host) | undefined;
  /**
   * Called once with the new system, for its events and statistics. The result is disposed when the system
   * has stopped. Only for middleware that is given to `createSystem`.
   */
  readonly install?: ((installation: Installation) => Disposable | undefined) | undefined;
}

/** The place where a middleware is installed. */
export interface Installation {
  /** The new system, before its first actor. */
  readonly system: ActorSystem;
  /** All middleware of the system, in its order. */
  readonly middleware: readonly Middleware[];
}
