import type { ActorCell } from '../../actor/actor-cell.js';
import type { ActorFailures } from '../../supervision/actor-failures.js';
import type { Middleware, Outcome, RetryRequest, Verdict } from '../middleware.js';
import { checkDelay, checkVerdict, type Pipeline, wants } from '../pipeline.js';
import { failActorForHook } from './fail-actor-for-hook.js';
import type { MessageHookContext } from './hook-contexts.js';

/** A verdict that keeps a message from its handler. */
export type BlockingVerdict = Exclude<Verdict, { readonly verdict: 'continue' }>;

/** Runs `beforeMessage`, in order. Undefined when every hook lets the message through. */
export function runBeforeHooks(
  failures: ActorFailures,
  cell: ActorCell,
  hookContext: MessageHookContext,
): BlockingVerdict | undefined {
  const pipeline = cell.type.pipeline as Pipeline;
  const { messages } = pipeline;
  const slot = hookContext.envelope?.context;
  for (let i = 0; i < messages.length; i += 1) {
    const middleware = messages[i] as Middleware;
    try {
      if (slot !== undefined) hookContext.context = pipeline.contextAt(slot, i);
      const verdict = middleware.beforeMessage?.(hookContext);
      if (verdict !== undefined) {
        checkVerdict(verdict);
        if (verdict.verdict !== 'continue') return verdict;
        if (verdict.withinMs !== undefined && verdict.withinMs < limitOf(hookContext))
          hookContext.limit = verdict;
      }
      hookContext.entered += 1;
    } catch (error) {
      failActorForHook(failures, cell, middleware, 'beforeMessage', error);
      return { verdict: 'refuse', why: `middleware ${middleware.name} failed` };
    }
  }
  return undefined;
}

/** Runs `afterMessage` of the middleware that was entered, in reverse. */
export function runAfterHooks(
  failures: ActorFailures,
  cell: ActorCell,
  hookContext: MessageHookContext,
  outcome: Outcome,
): RetryRequest | undefined {
  const pipeline = cell.type.pipeline as Pipeline;
  const { messages } = pipeline;
  const slot = hookContext.envelope?.context;
  let retry: RetryRequest | undefined;
  for (let i = hookContext.entered - 1; i >= 0; i -= 1) {
    const middleware = messages[i] as Middleware;
    if (middleware.afterMessage === undefined || !wants(middleware, outcome.kind)) continue;
    try {
      if (slot !== undefined) hookContext.context = pipeline.contextAt(slot, i);
      const asked = middleware.afterMessage(hookContext, outcome);
      if (asked !== undefined) {
        checkDelay('retryAfterMs', asked.retryAfterMs, 0);
        retry = asked;
      }
    } catch (error) {
      failActorForHook(failures, cell, middleware, 'afterMessage', error);
    }
  }
  return retry;
}

/** The time limit of an asynchronous handler. */
export function limitOf(hookContext: MessageHookContext): number {
  return hookContext.limit?.withinMs ?? Number.POSITIVE_INFINITY;
}
