import type { ActorContext } from '../define/actor-context.js';
import type { ActorDefinition, ActorSpec } from '../define/actor-definition.js';
import { makeDefinition } from '../define/define-actor.js';

/** A yielded value is the reply to the message that the generator was resumed with. */
export type Dialogue<M, R> = AsyncGenerator<R, void, M>;

export type GeneratorHandlers<M, R> = {
  /** Undefined when it returned instead of yielding; its actor then stops. */
  readonly next: (ctx: ActorContext<Dialogue<M, R>>, message: M) => Promise<R | undefined>;
};

/**
 * An async generator as an actor: it runs up to its first `yield` when it starts (that value is dropped),
 * each message is the value of a `yield`, and the next yielded value is the reply. Its local variables are
 * the state. Returning stops the actor, throwing is a failure; a stop runs its `finally`.
 */
export function fromGenerator<M, R, A = void>(
  name: string,
  make: (args: A) => Dialogue<M, R>,
): ActorDefinition<GeneratorHandlers<M, R>, Dialogue<M, R>, A> {
  const handlers: GeneratorHandlers<M, R> = {
    async next(ctx, message) {
      const step = await ctx.state.next(message);
      if (step.done !== true) return step.value;
      ctx.stop();
      return undefined;
    },
  };
  const spec: ActorSpec<Dialogue<M, R>, A, GeneratorHandlers<M, R>> = {
    state: make,
    handlers,
    async started(ctx) {
      // A generator ignores the argument of its first `next`: there is no `yield` yet that could return it.
      const step = await ctx.state.next(undefined as M);
      if (step.done === true) ctx.stop();
    },
    // Not awaited: a restart must not wait for a generator that is stuck; its context is fenced.
    restarting(ctx) {
      ctx.state
        .return()
        .catch((error: unknown) => ctx.log.warn(`the generator failed at its end: ${String(error)}`));
    },
    async stopped(ctx) {
      await ctx.state.return();
    },
  };
  return makeDefinition(name, spec) as ActorDefinition<GeneratorHandlers<M, R>, Dialogue<M, R>, A>;
}
