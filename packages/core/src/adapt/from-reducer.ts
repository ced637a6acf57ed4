import type { ActorContext } from '../define/actor-context.js';
import type { ActorDefinition, MailboxOptions } from '../define/actor-definition.js';
import { makeDefinition } from '../define/define-actor.js';
import { checkOptionNames } from '../option-check.js';

/** The messages of a reducer's actor: messages in, the present value out. */
export type ReducerHandlers<S, M> = {
  readonly dispatch: (ctx: ActorContext<{ value: S }>, message: M) => void;
  readonly get: (ctx: ActorContext<{ value: S }>) => S;
};

export interface ReducerOptions {
  /** Capacity, overflow policy and levels of its mailbox. */
  readonly mailbox?: MailboxOptions<'dispatch' | 'get'> | undefined;
}

/** A function `(state, message) => state` as an actor: `dispatch` feeds it, `get` asks for the state. */
export function fromReducer<S, M, A = void>(
  name: string,
  initial: (args: A) => S,
  reduce: (state: S, message: M) => S,
  options: ReducerOptions = {},
): ActorDefinition<ReducerHandlers<S, M>, { value: S }, A> {
  checkOptionNames(name, options, ['mailbox']);
  const handlers: ReducerHandlers<S, M> = {
    dispatch(ctx, message) {
      ctx.state.value = reduce(ctx.state.value, message);
    },
    get: (ctx) => ctx.state.value,
  };
  const spec = { state: (args: A) => ({ value: initial(args) }), handlers, ...options };
  return makeDefinition(name, spec) as ActorDefinition<ReducerHandlers<S, M>, { value: S }, A>;
}
