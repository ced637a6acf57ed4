import type { Failure } from '../message/expected-failure.js';
import type { LaterReply } from '../message/later-reply.js';
import type { ResumeCondition, SuspendReason } from '../message/suspend-reason.js';
import type {
  ActorRef,
  AnyRef,
  AskMethods,
  AskOptions,
  OfferMethods,
  RefOf,
  SendMethods,
  TellMethods,
} from '../ref/actor-ref.js';
import type { TimerMethods, TimerOptions } from '../ref/timer-methods.js';
import type { PoolOptions } from '../routing/pool.js';
import type { PoolRef } from '../routing/router-ref.js';
import type { RunningTree } from '../tree/start-tree.js';
import type { SupervisorSpec } from '../tree/tree-spec.js';
import type { AnyDefinition, HandlerMap, SpawnParameters } from './actor-definition.js';
import type { SpawnOptions } from './spawn-options.js';

/** A suspension of an actor's user lane. Only this token ends it early; resuming twice does nothing. */
export interface SuspensionToken {
  /** The suspension has not ended. */
  readonly active: boolean;
  /** Ends this suspension; a second call does nothing. */
  resume(): void;
}

/**
 * When a suspension ends.
 *
 *   { on: 'event', key }        by `ctx.event(key)` or `system.event(key)`
 *   { on: 'after', ms }         after a time
 *   { on: 'capacity', of }      when the mailbox of that actor has room
 *   { on: 'settled', promise }  when the promise has resolved or rejected
 *   { on: 'resume' }            only when its token is resumed
 */
export type ResumeOn =
  | Extract<ResumeCondition, { readonly on: 'event' | 'after' | 'resume' }>
  | { readonly on: 'capacity'; readonly of: AnyRef }
  | { readonly on: 'settled'; readonly promise: PromiseLike<unknown> };

/** Lines to the log of the host, each with the path of the actor. */
export interface Logger {
  /** For a developer. */
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Normal events. */
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** An operator should look at it some time. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** An operator should look at it now. */
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/**
 * The API of a handler. Valid until the actor is restarted or stopped; a later use is refused and reported.
 * Nothing here is global: time, chance and log come from the system's host. `Phase`: the names that `become`
 * takes; `Self`: the type of its own ref.
 */
export interface ActorContext<S = unknown, Phase extends string = string, Self = AnyRef> {
  /** Made by `state` of the definition; a restart makes it anew. */
  state: S;
  /** Typed by the protocol, where the definition has one. */
  readonly self: Self;
  /** The place in the tree: `/parent/name`. */
  readonly path: string;
  /** Undefined for actors spawned by the system itself. */
  readonly parent: AnyRef | undefined;
  /** The children that have not ended, in the order of their start. */
  readonly children: readonly AnyRef[];
  /** The present phase; undefined for an actor without phases. */
  readonly phase: Phase | undefined;
  /**
   * The signal of the message at hand: fires when its asker has given up or its deadline has passed, and when
   * the actor is asked to stop, is killed or restarted. The signal of an ask fires no more after its reply.
   * `signal.reason` is the asker's reason, or an error of this package. A listener that throws is an uncaught
   * exception.
   */
  readonly signal: AbortSignal;
  /** Writes to the log of the host, with the path of the actor. */
  readonly log: Logger;
  /** Monotonic milliseconds. */
  now(): number;
  /** A number from 0 up to, not including, 1. */
  random(): number;

  /** Starts an actor as a child of this one. */
  spawn<D extends AnyDefinition>(definition: D, ...options: SpawnParameters<D, SpawnOptions>): ActorRef<D>;
  /** Starts a pool of actors of one definition behind one ref, as a child of this actor. */
  spawnPool<D extends AnyDefinition>(definition: D, options: PoolOptions<D>): PoolRef<D>;
  /** Starts a supervision tree as a child of this actor. */
  start<D extends AnyDefinition>(tree: SupervisorSpec<D>): RunningTree<D>;
  /** The living actor of that name, if there is one. */
  lookup<D extends AnyDefinition>(definition: D, path: string): ActorRef<D> | undefined;
  /**
   * Calls back now, and in a turn of this actor whenever an actor of that definition takes or leaves the
   * name. Ends with this incarnation, or by the function that it returns.
   */
  watchName<D extends AnyDefinition>(
    definition: D,
    path: string,
    onChange: (ref: ActorRef<D> | undefined) => void,
  ): () => void;
  /** Ends every suspension in the system that waits for this event; returns how many. */
  event(key: string): number;
  /** Stops itself, or one of its children: the current message is finished, the rest become dead letters. */
  stop(ref?: AnyRef): void;
  /** Like `stop`, after the backlog is handled. */
  drain(ref?: AnyRef): void;
  /** Now: nothing is waited for. */
  kill(ref?: AnyRef): void;
  /**
   * `terminated` will be called exactly once when that actor has stopped, also when it already has. Ends with
   * this incarnation.
   */
  watch(ref: AnyRef): void;
  /** Ends `watch`. */
  unwatch(ref: AnyRef): void;
  /** From now on both end together: when one has ended, the other is stopped. */
  link(ref: AnyRef): void;
  /** Ends `link`. */
  unlink(ref: AnyRef): void;

  /** Sends in this actor's name; needed after an `await`, where the runtime cannot know which actor runs. */
  tell<H extends HandlerMap>(ref: RefOf<H>): TellMethods<H>;
  /** As `ref.ask`, in this actor's name. */
  ask<H extends HandlerMap>(ref: RefOf<H>, options?: AskOptions): AskMethods<H>;
  /** As `ref.send`, in this actor's name. */
  send<H extends HandlerMap>(ref: RefOf<H>, options?: AskOptions): SendMethods<H>;
  /** As `ref.offer`, in this actor's name. */
  offer<H extends HandlerMap>(ref: RefOf<H>): OfferMethods<H>;

  /** Sends the message once, `ms` from now. Ends with this incarnation of the actor. */
  after<H extends HandlerMap>(ms: number, ref: RefOf<H>, options?: TimerOptions): TimerMethods<H>;
  /** Sends the message every `ms`, the first time `ms` from now. Ends with this incarnation of the actor. */
  every<H extends HandlerMap>(ms: number, ref: RefOf<H>, options?: TimerOptions): TimerMethods<H>;
  /** Cancels the timer with that key; false when there is none. */
  cancel(key: string): boolean;
  /** Calls the `idle` hook when no message came for so long; undefined ends it. */
  receiveTimeout(ms: number | undefined): void;

  /** Stashes the message being handled. Bounded: see `stashMax`. */
  stash(): void;
  /** Puts all stashed messages back before the other messages, oldest first. */
  unstash(): void;
  /** Handles messages by the handlers of that phase, from the next one on. */
  become(phase: Phase): void;

  /**
   * Handles no messages until the condition is met or the token resumed; without a condition only the token
   * or a restart ends it. Suspensions nest.
   */
  suspend(reason: SuspendReason, until?: ResumeOn): SuspensionToken;
  /** A reply to give later: return it from the handler. */
  later<T>(): LaterReply<T>;
  /** A failure to reply with: `return ctx.fail('insufficient')`. One that is not returned is warned of. */
  fail<Code extends string, Detail = undefined>(code: Code, detail?: Detail): Failure<Code, Detail>;
}
