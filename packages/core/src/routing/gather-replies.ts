import { AbortedError, NoRouteeError } from '../errors/error-classes.js';
import { toError } from '../errors/thrown-value.js';
import type { Cancellable } from '../message/cancellation.js';
import { cancelOnAbort } from '../ref/abort-listeners.js';
import type { CallTerms } from '../ref/call-options.js';
import type { RouterBase } from './router-class.js';
import type { Gathered } from './router-ref.js';

/**
 * Asks every routee. Each ask has its own deadline, so the last answer is there at the deadline at the
 * latest.
 */
function askAll(
  router: RouterBase,
  { sender, options }: CallTerms,
  handler: number,
  payload: unknown,
): { readonly routee: string; readonly answer: Promise<unknown> }[] {
  return router.routees.map((routee) => ({
    routee: routee.path,
    answer: router.runtime.asks.askAs(sender, routee.cell, handler, payload, options),
  }));
}

/** Rejects only when there is no routee, or with the reason of its signal. */
export async function gatherReplies(
  router: RouterBase,
  terms: CallTerms,
  handler: number,
  payload: unknown,
): Promise<readonly Gathered<unknown>[]> {
  const asked = askAll(router, terms, handler, payload);
  if (asked.length === 0) throw noRouteeError(router, handler);
  const gathered = await Promise.all(
    asked.map(({ routee, answer }) =>
      answer.then(
        (reply) => ({ routee, reply }),
        (thrown: unknown) => ({ routee, error: toError(thrown) }),
      ),
    ),
  );
  terms.options?.signal?.throwIfAborted();
  return gathered;
}

/**
 * The first reply; the other routees are then aborted. When all have failed, an error that has the last
 * failure as its cause.
 */
export async function firstReply(
  router: RouterBase,
  { sender, options }: CallTerms,
  handler: number,
  payload: unknown,
): Promise<unknown> {
  const others = new AbortController();
  const abortAll: Cancellable = {
    cancel(reason) {
      others.abort(reason);
      return [];
    },
  };
  const signal = options?.signal;
  signal?.throwIfAborted();
  const group = signal === undefined ? undefined : cancelOnAbort(signal, abortAll);
  const terms = { sender, options: { withinMs: options?.withinMs, signal: others.signal } };
  const asked = askAll(router, terms, handler, payload);
  try {
    if (asked.length === 0) throw noRouteeError(router, handler);
    return await Promise.any(asked.map(({ answer }) => answer));
  } catch (thrown) {
    if (!(thrown instanceof AggregateError)) throw thrown;
    signal?.throwIfAborted();
    const last = toError(thrown.errors.at(-1));
    throw new NoRouteeError(router.path, router.messageOf(handler), `all ${asked.length} failed`, last);
  } finally {
    group?.remove(abortAll);
    others.abort(new AbortedError(router.path, 'another routee has replied'));
  }
}

function noRouteeError(router: RouterBase, handler: number): NoRouteeError {
  return new NoRouteeError(router.path, router.messageOf(handler), 'no routee takes messages');
}
