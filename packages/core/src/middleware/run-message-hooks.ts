import type { ActorCell } from '../actor/cell.js';
import type { Passage } from './hook-contexts.js';
import { hookFailed } from './hook-failure.js';
import type { Middleware, Outcome, RetryRequest, Verdict } from './middleware.js';
import { mustBePossible, mustBeTime, type Pipeline, wants } from './pipeline.js';

/** What keeps a message from its handler. */
export type Denial = Exclude<Verdict, { readonly verdict: 'continue' }>;

/** Into the hooks, in order. Undefined when every hook lets the message through. */
export function enter(cell: ActorCell, passage: Passage): Denial | undefined {
  const pipeline = cell.kind.pipeline as Pipeline;
  const { messages } = pipeline;
  const slot = passage.envelope?.context;
  for (let i = 0; i < messages.length; i += 1) {
    const middleware = messages[i] as Middleware;
    try {
      if (slot !== undefined) passage.context = pipeline.contextAt(slot, i);
      const verdict = middleware.beforeMessage?.(passage);
      if (verdict !== undefined) {
        mustBePossible(verdict);
        if (verdict.verdict !== 'continue') return verdict;
        if (verdict.withinMs !== undefined && verdict.withinMs < limitOf(passage)) passage.limit = verdict;
      }
      passage.entered += 1;
    } catch (error) {
      hookFailed(cell, middleware, 'beforeMessage', error);
      return { verdict: 'refuse', why: `middleware ${middleware.name} failed` };
    }
  }
  return undefined;
}

/** Out of the hooks again, in reverse, and only those that were entered. */
export function leave(cell: ActorCell, passage: Passage, outcome: Outcome): RetryRequest | undefined {
  const pipeline = cell.kind.pipeline as Pipeline;
  const { messages } = pipeline;
  const slot = passage.envelope?.context;
  let retry: RetryRequest | undefined;
  for (let i = passage.entered - 1; i >= 0; i -= 1) {
    const middleware = messages[i] as Middleware;
    if (middleware.afterMessage === undefined || !wants(middleware, outcome.kind)) continue;
    try {
      if (slot !== undefined) passage.context = pipeline.contextAt(slot, i);
      const asked = middleware.afterMessage(passage, outcome);
      if (asked !== undefined) {
        mustBeTime('retryAfterMs', asked.retryAfterMs, 0);
        retry = asked;
      }
    } catch (error) {
      hookFailed(cell, middleware, 'afterMessage', error);
    }
  }
  return retry;
}

/** How long an asynchronous handler may take. */
export function limitOf(passage: Passage): number {
  return passage.limit?.withinMs ?? Number.POSITIVE_INFINITY;
}
