import type { Level } from '../mailbox/levelled-queue.js';
import type { OverflowPolicy } from '../mailbox/overflow-policy.js';
import type { Middleware } from '../middleware/middleware.js';
import type { ActorRef, AnyRef, RefClass } from '../ref/actor-ref.js';
import type { RemoteDefinition } from '../remote/threads.js';
import type { StopReason } from '../runtime-event.js';
import type { ActorContext } from './actor-context.js';
import type { FieldForm } from './fixed-layout.js';
import type { SupervisionPolicy } from './supervision-policy.js';

/** Handlers by name, as seen from outside: payload and result. */
export type HandlerMap = Readonly<Record<string, (ctx: never, payload: never) => unknown>>;

/** The arguments of a send of this handler: none, or its payload. */
export type PayloadArgs<F> = F extends (ctx: never, ...payload: infer P) => unknown ? P : never;

/**
 * Handlers as they are written for a state S. A payload's type is the annotation of the handler's second
 * parameter.
 */
export type HandlersFor<S, Phase extends string = string> = Readonly<
  Record<string, (ctx: ActorContext<S, Phase>, payload: never, ...more: never[]) => unknown>
>;

export interface MailboxOptions<K extends string = string> {
  /** Messages waiting before the overflow policy acts. Default 1,000. */
  readonly capacity?: number | undefined;
  /** The behaviour of a full mailbox. Default `mute-sender`. */
  readonly overflow?: OverflowPolicy | undefined;
  /** Handlers served before or after the others; all not named are `normal`. */
  readonly levels?: Readonly<Partial<Record<K, Level>>> | undefined;
}

/** The actor that stopped, and the reason. */
export interface Terminated {
  readonly ref: AnyRef;
  readonly reason: StopReason;
}

type Hook<S, Phase extends string, Self, Rest extends readonly unknown[] = []> = (
  ctx: ActorContext<S, Phase, Self>,
  ...rest: Rest
) => unknown;

/** The hooks of an actor. They may be asynchronous: messages wait for them. */
export interface ActorHooks<S, Phase extends string = string, Self = AnyRef> {
  /** Before the first message, also after a restart. */
  readonly started?: Hook<S, Phase, Self> | undefined;
  /** Before its children are stopped. */
  readonly stopping?: Hook<S, Phase, Self> | undefined;
  /** After its children have stopped: the last thing it does. */
  readonly stopped?: Hook<S, Phase, Self> | undefined;
  /** With the old state, before a restart. */
  readonly restarting?: Hook<S, Phase, Self, [error: Error]> | undefined;
  /** An actor that it watches has stopped. */
  readonly terminated?: Hook<S, Phase, Self, [terminated: Terminated]> | undefined;
  /** No message came for `ctx.receiveTimeout`. */
  readonly idle?: Hook<S, Phase, Self> | undefined;
}

/** The settings of an actor. `K`: the names of its handlers. */
export interface ActorSettings<K extends string = string> {
  /**
   * A message that is not legal in the present phase: a dead letter, or stashed until the next `become`.
   * Default `dead-letter`.
   */
  readonly illegal?: 'dead-letter' | 'stash' | undefined;
  /** Capacity, overflow policy and levels of its mailbox. */
  readonly mailbox?: MailboxOptions<K> | undefined;
  /** Its policy for its own children. */
  readonly supervise?: SupervisionPolicy | undefined;
  /** Messages handled per turn before others get theirs. Default 300. */
  readonly throughput?: number | undefined;
  /** How long it may take to stop before it is killed. Default 5,000. */
  readonly stopWithinMs?: number | undefined;
  /** Stashed messages at most. Default 1,000. */
  readonly stashMax?: number | undefined;
  /** Handlers that may be run again after a failure, when a middleware asks for it. */
  readonly retryable?: readonly K[] | undefined;
  /** For the actors of this definition, inside that of the system and of `spawn`. */
  readonly middleware?: readonly Middleware[] | undefined;
  /**
   * `import.meta.url` of the module that exports the definition: other threads import it. Default: the module
   * that called `defineActor`.
   */
  readonly module?: string | undefined;
}

/** The behaviour of an actor. */
export interface ActorSpec<
  S,
  A,
  H extends HandlersFor<S, Phase>,
  P extends Readonly<Record<string, HandlersFor<S, Phase>>> = NoPhases,
  Phase extends string = string,
> extends ActorHooks<S, Phase>,
    ActorSettings<NoInfer<Extract<keyof H, string>>> {
  /** Makes the state: once at the start and again at every restart. */
  readonly state?: ((args: A) => S) | undefined;
  readonly handlers: H;
  /** Handlers that exist only in a phase; `ctx.become` moves between phases, the first is where it starts. */
  // The intersection gives the handlers in it their context type, and the names to `become`; P alone is its
  // empty default until it is inferred.
  readonly phases?: (P & PhasesFor<S, Phase>) | undefined;
  /** Fixed layouts of payloads, for messages to other threads. Default: payloads are cloned. */
  readonly layouts?: LooseLayouts | undefined;
}

/** Layouts by the names of handlers. */
export type LooseLayouts = Readonly<Record<string, FieldForm | Readonly<Record<string, FieldForm>>>>;
export type NoLayouts = Readonly<Record<never, never>>;

/** The hooks of a phase, beside its handlers. They are no messages. */
export const PHASE_HOOKS: readonly string[] = ['enter', 'exit'] satisfies (keyof PhaseHooks<unknown>)[];

/**
 * The hooks of a phase: run when the handler that called `become` has settled, before the next message. They
 * may be asynchronous: messages wait for them.
 */
export interface PhaseHooks<Context> {
  /** Also in the first phase, after `started`. Timers that it arms end with the phase. */
  readonly enter?: ((ctx: Context) => unknown) | undefined;
  /** Not when the actor stops or is restarted. */
  readonly exit?: ((ctx: Context) => unknown) | undefined;
}

export type PhasesFor<S, Phase extends string = string> = {
  readonly [Name in Phase]: HandlersFor<S, Phase>;
};
export type NoPhases = Readonly<Record<never, never>>;

/**
 * The messages of an actor: the common handlers and those of all phases. A ref needs their payloads and
 * replies only, so the context is left out: refs of different actors with the same messages are the same.
 */
export type WithPhases<H, P> = {
  readonly [K in Extract<keyof H, string> | KeysOfAll<P[keyof P]>]: Message<
    K extends keyof H ? H[K] : HandlerIn<P[keyof P], K>
  >;
};
type Message<F> = F extends (ctx: never, ...payload: infer Payload) => infer Reply
  ? (ctx: never, ...payload: Payload) => Reply
  : never;
type KeysOfAll<U> = U extends unknown ? Exclude<Extract<keyof U, string>, keyof PhaseHooks<never>> : never;
type HandlerIn<U, K extends string> = U extends Readonly<Record<K, infer F>> ? F : never;

/** Makes the state of one incarnation from its arguments and its context. */
export type MakeState = (args: unknown, ctx: ActorContext) => unknown;

/** Some definition, whatever its handlers, state and arguments. */
export interface AnyDefinition {
  readonly name: string;
  /** Type carriers: never present at run time. */
  readonly '~handlers'?: HandlerMap;
  readonly '~args'?: (args: never) => void;
  readonly '~state'?: (state: never) => void;
  /** For the runtime only. */
  readonly '~spec': LooseSpec;
  readonly '~refClass': RefClass;
  readonly '~handlerNames': readonly string[];
  /** Makes a state that needs the context, instead of the specification's `state`. */
  readonly '~makeState'?: MakeState | undefined;
  /** Of a pool: the definition of its routees. */
  readonly '~routees'?: AnyDefinition;
  /** The module that defines it, where that is known. */
  readonly '~module'?: () => string | undefined;
  /** Of a proxy: the definition of the actor that it stands for. */
  readonly '~represents'?: RepresentedDefinition;
}

/** The definition of an actor on another thread, as this thread knows it. */
export interface RepresentedDefinition extends RemoteDefinition {
  /** Where it was spawned from this thread. */
  readonly definition: AnyDefinition | undefined;
}

/** The contract that refs, spawns and tests of an actor share. Made by `defineActor`. */
export interface ActorDefinition<H extends HandlerMap = HandlerMap, S = never, A = never>
  extends AnyDefinition {
  /** The typed ref of the actor, from inside one of its handlers. */
  self(ctx: ActorContext<S>): ActorRef<this>;
  /** Whether it is the ref of an actor of this definition, or of a pool or router of such. */
  is(ref: unknown): ref is ActorRef<this>;
  readonly '~handlers'?: H;
  readonly '~args'?: (args: A) => void;
  readonly '~state'?: (state: S) => void;
}

/** A spec with its types forgotten; they were checked when it was defined. */
export type LooseSpec = ActorSpec<unknown, unknown, HandlersFor<unknown>, PhasesFor<unknown>>;

export type HandlersOf<D> = D extends { readonly '~handlers'?: infer H } ? Extract<H, HandlerMap> : never;
export type ArgsOf<D> = D extends { readonly '~args'?: (args: infer A) => void } ? A : never;
/** The state of a definition; unknown where its annotation hides it, as `Actor<Protocol>` does. */
export type StateOf<D> = D extends { readonly '~state'?: (state: infer S) => void }
  ? [S] extends [never]
    ? unknown
    : S
  : unknown;

/** The option `args`: needed exactly when the state needs arguments. */
export type ArgsOption<A> = [A] extends [void]
  ? { readonly args?: undefined }
  : undefined extends A
    ? { readonly args?: A }
    : { readonly args: A };

/** The parameters of `spawn` and `child` after the definition: one options object. */
export type SpawnParameters<D, Options> = [ArgsOf<D>] extends [void]
  ? [options?: Options & ArgsOption<ArgsOf<D>>]
  : undefined extends ArgsOf<D>
    ? [options?: Options & ArgsOption<ArgsOf<D>>]
    : [options: Options & ArgsOption<ArgsOf<D>>];
