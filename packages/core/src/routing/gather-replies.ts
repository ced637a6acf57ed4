import { NoRouteeError, toError } from '../errors.js';
import type { AskTerms } from '../ref/cell-ref.js';
import type { RouterBase } from './router-class.js';
import type { Gathered } from './router-ref.js';

/**
 * Asks every routee. Each ask has its own deadline, so the last answer is there at the deadline at the
 * latest.
 */
function askAll(
  router: RouterBase,
  { sender, withinMs }: AskTerms,
  handler: number,
  payload: unknown,
): { readonly routee: string; readonly answer: Promise<unknown> }[] {
  return router.routees.map((routee) => ({
    routee: routee.path,
    answer: router.runtime.asks.askAs(sender, routee.cell, handler, payload, withinMs),
  }));
}

export async function gatherReplies(
  router: RouterBase,
  terms: AskTerms,
  handler: number,
  payload: unknown,
): Promise<readonly Gathered<unknown>[]> {
  const asked = askAll(router, terms, handler, payload);
  if (asked.length === 0) throw noRouteeError(router, handler);
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
  terms: AskTerms,
  handler: number,
  payload: unknown,
): Promise<unknown> {
  const asked = askAll(router, terms, handler, payload);
  if (asked.length === 0) throw noRouteeError(router, handler);
  try {
    return await Promise.any(asked.map(({ answer }) => answer));
  } catch (thrown) {
    const last = thrown instanceof AggregateError ? toError(thrown.errors.at(-1)) : toError(thrown);
    throw new NoRouteeError(router.path, router.messageOf(handler), `all ${asked.length} failed`, last);
  }
}

function noRouteeError(router: RouterBase, handler: number): NoRouteeError {
  return new NoRouteeError(router.path, router.messageOf(handler), 'no routee takes messages');
}
