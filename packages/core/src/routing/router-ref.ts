import type { AnyDefinition, HandlersOf } from '../define/actor-definition.js';
import type { ActorRef, AskMethods, AskOptions, RefOf, TellMethods } from '../ref/actor-ref.js';

/** One routee's part of a gathered answer. */
export type Gathered<Reply> =
  | { readonly routee: string; readonly reply: Reply }
  | { readonly routee: string; readonly error: Error };

/** Asks every routee: its answer within the deadline, or its error. */
export type GatherMethods<A> = {
  readonly [K in keyof A]: A[K] extends (...payload: infer P) => Promise<infer Reply>
    ? (...payload: P) => Promise<readonly Gathered<Reply>[]>
    : never;
};

/**
 * Several actors of one definition behind one address. It is used like the ref of one of them, also as the
 * target of `ctx.tell`, `ctx.ask` and timers; the routing chooses the routee.
 */
export interface RouterRef<D extends AnyDefinition> extends RefOf<HandlersOf<D>> {
  /** The routees that take messages at present. */
  readonly routees: readonly ActorRef<D>[];
  /** Sends to every routee, whatever the routing. */
  readonly all: TellMethods<HandlersOf<D>>;
  /** Asks every routee and waits for all answers, or for the deadline. */
  gather(options?: AskOptions): GatherMethods<AskMethods<HandlersOf<D>>>;
  /** Asks every routee and takes the first reply; fails when all have failed. */
  first(options?: AskOptions): AskMethods<HandlersOf<D>>;
}

/** A router that owns its routees: it starts, supervises and counts them. */
export interface PoolRef<D extends AnyDefinition> extends RouterRef<D> {
  /** The number of routees it should have. */
  readonly size: number;
  /** Additional routees are started at once; surplus routees finish their backlog first. */
  resize(size: number): void;
}
