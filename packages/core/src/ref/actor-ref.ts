import type { ActorCell } from '../actor/actor-cell.js';
import type { AnyDefinition, HandlerMap, HandlersOf, PayloadArgs } from '../define/actor-definition.js';
import type { Delivered } from '../mailbox/delivery.js';
import type { LaterReply } from '../message/later-reply.js';
import type { CellRef } from './cell-ref.js';

/** Options of an ask, and of a send that waits for room. */
export interface AskOptions {
  /**
   * Milliseconds until it fails. Never longer than what is left to the ask being handled. Default: that of
   * the system for an ask, none for a send.
   */
  readonly withinMs?: number | undefined;
  /**
   * Gives up when it fires: the promise rejects with its reason, and the handler at work on the message gets
   * it in `ctx.signal`.
   */
  readonly signal?: AbortSignal | undefined;
}

// The methods are written out by the compiler, so that an error message lists the messages of the actor and
// not the types they were made of.
type WrittenOut<T> = { readonly [K in keyof T]: T[K] } & {};

/** After a mistake in a handler's signature, which is an error there, the methods accept everything. */
// biome-ignore lint/suspicious/noExplicitAny: one mistake should be one error
type Accepting<H, Methods> = '~mistake' extends keyof H ? any : WrittenOut<Methods>;

export type TellMethods<H extends HandlerMap> = Accepting<
  H,
  { [K in keyof H]: (...payload: PayloadArgs<H[K]>) => void }
>;
export type OfferMethods<H extends HandlerMap> = Accepting<
  H,
  { [K in keyof H]: (...payload: PayloadArgs<H[K]>) => Delivered }
>;
export type SendMethods<H extends HandlerMap> = Accepting<
  H,
  { [K in keyof H]: (...payload: PayloadArgs<H[K]>) => Promise<void> }
>;
/** A handler without a reply can be asked too: the promise resolves when the message was handled. */
export type AskMethods<H extends HandlerMap> = Accepting<
  H,
  { [K in keyof H]: (...payload: PayloadArgs<H[K]>) => Promise<ReplyOf<H[K]>> }
>;

/** The value that a reply of this handler resolves to. */
export type ReplyOf<F> = F extends (ctx: never, payload: never) => infer R ? Unwrapped<Awaited<R>> : never;
type Unwrapped<R> = R extends LaterReply<infer T> ? T : R;

/** The common part of all refs. */
export interface AnyRef {
  /** The place in the tree: `/parent/name`. */
  readonly path: string;
  /** Unique in its system for ever: a slot and its generation. */
  readonly id: string;
  /** The path. */
  toString(): string;
}

/**
 * The address of an actor: stays valid over restarts, and after the actor's end (sends then become dead
 * letters). Has the handlers of its definition as methods.
 */
export interface RefOf<H extends HandlerMap> extends AnyRef {
  /** Sends and forgets: never throws, never waits. */
  readonly tell: TellMethods<H>;
  /** Returns whether it was accepted. */
  readonly offer: OfferMethods<H>;
  /** Waits until there is room. */
  readonly send: SendMethods<H>;
  /** Sends and awaits the reply, with a deadline (5 s unless set otherwise). */
  readonly ask: AskMethods<H>;
  /** `ask` and `send` with a deadline or a signal. It may be kept and used again. */
  with(options: AskOptions): CallMethods<H>;
  /** Type carrier: never present at run time. */
  readonly '~handlers'?: H;
}

/** The ways to call an actor that can be waited for. */
export interface CallMethods<H extends HandlerMap> {
  readonly ask: AskMethods<H>;
  readonly send: SendMethods<H>;
}

export type ActorRef<D extends AnyDefinition> = RefOf<HandlersOf<D>>;

/** The class of a definition's refs. */
export type RefClass = new (cell: ActorCell) => CellRef;
