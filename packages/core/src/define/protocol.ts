import type { LaterReply } from '../message/later-reply.js';
import type { RefOf } from '../ref/actor-ref.js';
import type { ActorContext } from './actor-context.js';
import type { ActorDefinition, ActorHooks, ActorSettings, PhaseHooks } from './actor-definition.js';
import type { FixedLayout } from './fixed-layout.js';

/** A protocol: an interface whose methods are messages, with at most one payload each. */
export type ProtocolRule<P> = { readonly [K in keyof P]: (payload: never) => unknown };

/** The messages of a protocol in the form that refs and definitions share. */
export type ProtocolHandlers<P> = {
  readonly [K in keyof P]: P[K] extends (...payload: infer Payload) => infer Reply
    ? (ctx: never, ...payload: Payload) => Reply
    : never;
};

/** The ref of an actor with that protocol, whichever definition it has. */
export type Ref<P extends ProtocolRule<P>> = RefOf<ProtocolHandlers<P>>;

/**
 * The definition of an actor with that protocol and those arguments: the annotation of an exported one. It
 * hides the type of the state, unless `State` is given.
 */
export type Actor<P extends ProtocolRule<P>, Args = void, State = never> = ActorDefinition<
  ProtocolHandlers<P>,
  State,
  Args
>;

/** A handler may reply now, by a promise, or later; a message without a reply takes any value. */
type ReplyValue<R> = [R] extends [void] ? unknown : R | Promise<Awaited<R>> | LaterReply<Awaited<R>>;

type HandlerOf<F, Context> = F extends (...payload: infer Payload) => infer Reply
  ? (ctx: Context, ...payload: Payload) => ReplyValue<Reply>
  : never;

/** The handlers that a protocol needs. */
type HandlersOfProtocol<P, Context> = { readonly [K in keyof P]: HandlerOf<P[K], Context> };

/** The context of a handler; `self` has the messages of the protocol. */
export type ProtocolContext<P extends ProtocolRule<P>, S, Phase extends string = string> = ActorContext<
  S,
  Phase,
  Ref<P>
>;

/** The handlers of some of the protocol's messages. */
type SomeOfProtocol<P extends ProtocolRule<P>, S, Phase extends string> = Partial<
  HandlersOfProtocol<P, ProtocolContext<P, S, Phase>>
>;

/** One phase: the handlers of some messages, and its hooks. */
export type PhaseOfProtocol<P extends ProtocolRule<P>, S, Phase extends string> = Omit<
  SomeOfProtocol<P, S, Phase>,
  keyof PhaseHooks<never>
> &
  PhaseHooks<ProtocolContext<P, S, Phase>>;

type KeysInPhases<Phases> = {
  [Name in keyof Phases]: Exclude<keyof Phases[Name], keyof PhaseHooks<never>>;
}[keyof Phases];

/** A constraint of the handlers by themselves: messages of the protocol, and no others. */
export type OnlyMessagesOf<P extends ProtocolRule<P>, S, Phase extends string, H> = SomeOfProtocol<
  P,
  S,
  Phase
> & { readonly [K in Exclude<keyof H, keyof P>]: 'the protocol has no such message' };

/**
 * The type of a definition's name: a text that names the messages without a handler, and so an error, or a
 * string. The name is the one parameter whose type may depend on handlers and phases together: the types of
 * the handlers' own parameters are inferred from theirs.
 */
export type NameIfComplete<P, H, Phases> = [Exclude<keyof P, keyof H | KeysInPhases<Phases>>] extends [never]
  ? string
  : `no handler for ${Extract<Exclude<keyof P, keyof H | KeysInPhases<Phases>>, string>}`;

/** Layouts by the names of messages; each has the type of its payload. */
export type ProtocolLayouts<P> = {
  readonly [K in keyof P]?: P[K] extends (payload: infer Payload) => unknown
    ? FixedLayout<Payload> | undefined
    : undefined;
};

/** A specification by a protocol: payloads, replies and `ctx.self` have its types. */
export interface ProtocolSpec<P extends ProtocolRule<P>, S, A, H, Phases, Phase extends string>
  extends ActorHooks<S, Phase, Ref<P>>,
    ActorSettings<Extract<keyof P, string>> {
  readonly state?: ((args: A) => S) | undefined;
  /** Every message of the protocol, except those that only phases handle. */
  readonly handlers: H;
  readonly phases?: (Phases & { readonly [Name in Phase]: PhaseOfProtocol<P, S, Phase> }) | undefined;
  /** Fixed layouts of payloads, for messages to other threads. Default: payloads are cloned. */
  readonly layouts?: ProtocolLayouts<P> | undefined;
}
