import type { ActorCell } from '../actor/actor-cell.js';
import { NoRouteeError, toError } from '../errors.js';
import type { RouterBase } from './router-class.js';
import type { Gathered } from './router-ref.js';

/** Asks every routee. Each ask has its own deadline, so the answer is there when the last one is, or at the deadline. */
function askAll(
  router: RouterBase,
  sender: ActorCell | undefined,
  handler: number,
  payload: unknown,
  withinMs: number | undefined,
): { readonly routee: string; readonly answer: Promise<unknown> }[] {
  return router.routees.map((routee) => ({
    routee: routee.path,
    answer: router.runtime.asks.askAs(sender, routee.cell, handler, payload, withinMs),
  }));
}

export async function gatherReplies(
  router: RouterBase,
  sender: ActorCell | undefined,
  handler: number,
  payload: unknown,
  withinMs: number | undefined,
): Promise<readonly Gathered<unknown>[]> {
  const asked = askAll(router, sender, handler, payload, withinMs);
  if (asked.length === 0) throw nobody(router, handler);
  return Promise.all(
    asked.map(({ routee, answer }) =>
      answer.then(
        (reply) => ({ routee, reply }),
        (thrown: unknown) => ({ routee, error: toError(thrown) }),
      ),
    ),
  );
}

/** The first reply; when all have failed, an error that has the last failure as its cause. */
export async function firstReply(
  router: RouterBase,
  sender: ActorCell | undefined,
  handler: number,
  payload: unknown,
  withinMs: number | undefined,
): Promise<unknown> {
  const asked = askAll(router, sender, handler, payload, withinMs);
  if (asked.length === 0) throw nobody(router, handler);
  try {
    return await Promise.any(asked.map(({ answer }) => answer));
  } catch (thrown) {
    const last = thrown instanceof AggregateError ? toError(thrown.errors.at(-1)) : toError(thrown);
    throw new NoRouteeError(router.path, router.messageOf(handler), `all ${asked.length} failed`, last);
  }
}

function nobody(router: RouterBase, handler: number): NoRouteeError {
  return new NoRouteeError(router.path, router.messageOf(handler), 'none of them takes messages');
}
