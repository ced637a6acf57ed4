import { HandlerTimeoutError, MiddlewareError, toError } from '../errors.js';
import type { Middleware, Outcome, RetryRequest, Verdict } from '../invoker/middleware.js';
import { mustBePossible, mustBeTime, type Pipeline } from '../invoker/pipeline.js';
import { FAULT, SETTLED } from '../mailbox/status.js';
import { ENVELOPE, type Envelope } from '../message/envelope.js';
import type { ResumeCondition } from '../message/suspension.js';
import type { InvokeCode, InvokeResult } from '../ready/invoke-result.js';
import { COMPLETED, FAILED, STOPPED, YIELDED } from '../ready/invoke-result.js';
import { TimerNode } from '../timer-wheel.js';
import { Awaiting, park } from './awaiting.js';
import type { ActorCell } from './cell.js';
import type { ResumeOn } from './context.js';
import { Passage, Sending, Turn } from './hook-views.js';
import type { Runtime } from './runtime.js';

type Run = (context: unknown, payload: unknown) => unknown;

/** Ends an asynchronous handler that takes too long. */
class HandlerLimit extends TimerNode {
  private readonly onLate: () => void;

  constructor(onLate: () => void) {
    super();
    this.onLate = onLate;
  }

  override expire(): void {
    this.onLate();
  }
}

/** Runs messages and turns through an actor's middleware. Hooks that were entered are left again, in reverse. */
export class Pipelines {
  private readonly runtime: Runtime;
  /** How often the message at the head of a mailbox was put back, by actor. */
  private readonly retries = new WeakMap<ActorCell, number>();
  /** Most systems never retry, and then need not look. */
  private hasRetried = false;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  // Sends -------------------------------------------------------------------------------------------------------

  /** A send hook that throws must not reach the sender: the message goes without its context, the actor has failed. */
  contextFor(cell: ActorCell, envelope: Envelope): unknown {
    const { senders } = cell.kind.pipeline as Pipeline;
    const { handler, payload } = envelope;
    // An ask after an await knows both; a tell is made where they are known.
    const sender = (envelope.sender as ActorCell | undefined) ?? this.runtime.delivery.sender;
    const cause = (envelope.cause ?? this.runtime.invoker.envelope)?.context;
    const sending = new Sending(cell, handler, payload, sender);
    const contexts = senders.map((middleware) => {
      try {
        sending.cause = sender?.kind.pipeline?.contextOf(cause, middleware);
        return middleware.onSend?.(sending);
      } catch (error) {
        const failure = new MiddlewareError(middleware.name, 'onSend', toError(error));
        this.runtime.lifecycle.failed(cell, failure, handler, undefined);
        return undefined;
      }
    });
    return contexts.length === 1 ? contexts[0] : contexts;
  }

  // Turns -------------------------------------------------------------------------------------------------------

  enterTurn(cell: ActorCell): number {
    const { turns } = cell.kind.pipeline as Pipeline;
    if (turns.length === 0) return 0;
    const view = new Turn(cell, this.runtime.host.now());
    this.turn = view;
    for (let i = 0; i < turns.length; i += 1) {
      const middleware = turns[i] as Middleware;
      try {
        middleware.beforeTurn?.(view);
      } catch (error) {
        this.hookFailed(cell, middleware, 'beforeTurn', error);
        return i;
      }
    }
    return turns.length;
  }

  leaveTurn(cell: ActorCell, code: InvokeCode, entered: number): void {
    const view = this.turn;
    if (view === undefined) return;
    this.turn = undefined;
    view.endedAt = this.runtime.host.now();
    view.handled = this.runtime.invoker.handled;
    const { turns } = cell.kind.pipeline as Pipeline;
    const result = this.resultOf(cell, code);
    for (let i = entered - 1; i >= 0; i -= 1) {
      const middleware = turns[i] as Middleware;
      try {
        middleware.afterTurn?.(view, result);
      } catch (error) {
        this.hookFailed(cell.ref.cell, middleware, 'afterTurn', error);
      }
    }
  }

  private turn: Turn | undefined = undefined;

  /** The integer of the hot path as the union that hooks see. */
  private resultOf(cell: ActorCell, code: InvokeCode): InvokeResult {
    if (code === COMPLETED) return { kind: 'completed', readyHint: cell.queue.length > 0 };
    if (code === YIELDED) return { kind: 'yielded' };
    if (code === STOPPED) return { kind: 'stopped' };
    const failure = cell.extras?.failure;
    if (code === FAILED || ((cell.status & FAULT) !== 0 && failure !== undefined)) {
      return { kind: 'failed', error: failure?.error };
    }
    const open = cell.extras?.suspensions.at(-1);
    if (open !== undefined)
      return { kind: 'suspended', reason: open.reason, resumeOn: conditionOf(open.until) };
    return { kind: 'suspended', reason: 'awaiting', resumeOn: { on: 'settled' } };
  }

  // Messages ----------------------------------------------------------------------------------------------------

  runNext(cell: ActorCell): void {
    const { ready, lifecycle } = this.runtime;
    ready.queued -= 1;
    const slot = cell.queue.peek();
    const taken = cell.queue.take();
    const envelope = slot === ENVELOPE ? (taken as Envelope) : undefined;
    if (envelope !== undefined && envelope.deadline < 0) return lifecycle.expired(cell, envelope);
    const handler = envelope?.handler ?? slot;
    const payload = envelope === undefined ? taken : envelope.payload;
    const passage = new Passage(cell, handler, payload, envelope, this.runtime.host.now());
    if (this.hasRetried) passage.retries = this.retries.get(cell) ?? 0;
    const verdict = this.enter(cell, passage);
    switch (verdict.verdict) {
      case 'continue':
        return this.run(cell, passage);
      case 'hold':
        this.runtime.invoker.discount();
        cell.queue.unshift(slot, taken);
        ready.queued += 1;
        this.leave(cell, passage, { kind: 'held' });
        this.runtime.suspensions.suspend(cell, verdict.reason, resumeOf(cell, verdict.resumeOn));
        return;
      case 'refuse':
        this.runtime.invoker.discount();
        this.leave(cell, passage, { kind: 'refused', why: verdict.why });
        this.runtime.deadLetters.undelivered(cell, slot, taken, 'refused', verdict.why);
        return;
      case 'answer':
        passage.startedAt = passage.now;
        this.leave(cell, passage, { kind: 'handled', reply: verdict.reply, ms: 0 });
        if (envelope !== undefined) this.runtime.asks.reply(envelope, verdict.reply);
        return;
      default:
        verdict satisfies never;
    }
  }

  private enter(cell: ActorCell, passage: Passage): Verdict {
    const pipeline = cell.kind.pipeline as Pipeline;
    for (const middleware of pipeline.messages) {
      try {
        passage.context = pipeline.contextOf(passage.envelope?.context, middleware);
        const verdict = middleware.beforeMessage?.(passage);
        if (verdict !== undefined) mustBePossible(verdict);
        if (verdict !== undefined && verdict.verdict !== 'continue') return verdict;
        if (verdict?.withinMs !== undefined) passage.withinMs = Math.min(passage.withinMs, verdict.withinMs);
        passage.entered += 1;
      } catch (error) {
        this.hookFailed(cell, middleware, 'beforeMessage', error);
        return { verdict: 'refuse', why: `middleware ${middleware.name} failed` };
      }
    }
    return { verdict: 'continue' };
  }

  private run(cell: ActorCell, passage: Passage): void {
    const { invoker, host } = this.runtime;
    passage.startedAt = host.now();
    invoker.envelope = passage.envelope;
    invoker.currentHandler = passage.envelope === undefined ? passage.handler : ENVELOPE;
    invoker.currentPayload = passage.envelope ?? passage.payload;
    let result: unknown;
    let promise: Promise<unknown> | undefined;
    try {
      result = this.call(cell, passage);
      promise = promiseOf(result);
    } catch (error) {
      invoker.endMessage();
      this.finish(cell, passage, {
        kind: 'failed',
        error: toError(error),
        ms: host.now() - passage.startedAt,
      });
      return;
    }
    const stashed = invoker.endMessage();
    if (stashed) return void this.leave(cell, passage, { kind: 'held' });
    if (promise !== undefined) {
      this.await(cell, passage, promise);
    } else {
      this.finish(cell, passage, { kind: 'handled', reply: result, ms: host.now() - passage.startedAt });
    }
  }

  private call(cell: ActorCell, passage: Passage): unknown {
    const { wrappers } = cell.kind.pipeline as Pipeline;
    const handler = cell.kind.handlers[passage.handler] as Run;
    if (wrappers.length === 0) return handler(cell, passage.payload);
    return this.wrapped(cell, passage, handler, 0);
  }

  private wrapped(cell: ActorCell, passage: Passage, handler: Run, index: number): unknown {
    const pipeline = cell.kind.pipeline as Pipeline;
    const wrapper = pipeline.wrappers[index];
    try {
      if (wrapper === undefined) return handler(cell, passage.payload);
      passage.context = pipeline.contextOf(passage.envelope?.context, wrapper);
      return wrapper.around?.(passage, () => this.wrapped(cell, passage, handler, index + 1));
    } catch (error) {
      if (wrapper === undefined || passage.thrown?.error === error) {
        passage.thrown = { error };
        throw error;
      }
      const failure = new MiddlewareError(wrapper.name, 'around', toError(error));
      passage.thrown = { error: failure };
      throw failure;
    }
  }

  private await(cell: ActorCell, passage: Passage, promise: Promise<unknown>): void {
    const { host, ready, wheel } = this.runtime;
    const awaiting = new Awaiting(
      passage.message,
      passage.handler,
      passage.envelope,
      passage.startedAt,
      (settled, done) => {
        const ms = host.now() - passage.startedAt;
        const { error, value } = done;
        if (error === undefined) this.finish(settled, passage, { kind: 'handled', reply: value, ms });
        else this.finish(settled, passage, { kind: 'failed', error: toError(error.thrown), ms });
      },
    );
    park(cell, promise, awaiting);
    ready.pressure.relieveIfCaughtUp(cell);
    const limit = passage.withinMs === Number.POSITIVE_INFINITY ? undefined : this.limit(passage, awaiting);
    const settled = (): void => {
      if (limit !== undefined) wheel.cancel(limit);
    };
    promise.then(settled, settled);
    awaiting.onDropped = () => {
      settled();
      this.leave(cell, passage, { kind: 'abandoned', ms: host.now() - passage.startedAt });
    };
  }

  private limit(passage: Passage, awaiting: Awaiting): HandlerLimit {
    const { host, ready, wheel } = this.runtime;
    const { cell, withinMs } = passage;
    const limit = new HandlerLimit(() => {
      if (awaiting.settled || cell.extras?.awaiting !== awaiting) return;
      awaiting.settled = true;
      awaiting.error = { thrown: new HandlerTimeoutError(cell.path, passage.message, withinMs) };
      cell.extras.abort?.abort();
      cell.extras.abort = undefined;
      cell.status |= SETTLED;
      ready.registerReady(cell);
    });
    wheel.arm(limit, host.now() + withinMs);
    return limit;
  }

  private finish(
    cell: ActorCell,
    passage: Passage,
    outcome: Extract<Outcome, { readonly kind: 'handled' | 'failed' }>,
  ): void {
    const retry = this.leave(cell, passage, outcome);
    if (outcome.kind === 'handled') {
      if (this.hasRetried) this.retries.delete(cell);
      if (passage.envelope !== undefined) this.runtime.lifecycle.answer(passage.envelope, outcome.reply);
      return;
    }
    if (retry !== undefined && passage.retryable) return this.tryAgain(cell, passage, retry);
    this.retries.delete(cell);
    this.runtime.lifecycle.failed(cell, outcome.error, passage.handler, passage.envelope);
  }

  /** The message goes back to the head and nothing overtakes it: order is kept. */
  private tryAgain(cell: ActorCell, passage: Passage, retry: RetryRequest): void {
    this.hasRetried = true;
    this.retries.set(cell, passage.retries + 1);
    this.runtime.invoker.discount();
    const { envelope } = passage;
    this.runtime.lifecycle.putBack(
      cell,
      envelope === undefined ? passage.handler : ENVELOPE,
      envelope ?? passage.payload,
    );
    this.runtime.suspensions.suspend(cell, { user: 'retry' }, { on: 'after', ms: retry.retryAfterMs });
  }

  private leave(cell: ActorCell, passage: Passage, outcome: Outcome): RetryRequest | undefined {
    const pipeline = cell.kind.pipeline as Pipeline;
    let retry: RetryRequest | undefined;
    passage.left = true;
    if ('ms' in outcome) passage.now = passage.startedAt + outcome.ms;
    for (let i = passage.entered - 1; i >= 0; i -= 1) {
      const middleware = pipeline.messages[i] as Middleware;
      try {
        passage.context = pipeline.contextOf(passage.envelope?.context, middleware);
        const asked = middleware.afterMessage?.(passage, outcome);
        if (asked !== undefined) mustBeTime('retryAfterMs', asked.retryAfterMs, 0);
        retry = asked ?? retry;
      } catch (error) {
        this.hookFailed(cell, middleware, 'afterMessage', error);
      }
    }
    return retry;
  }

  private hookFailed(cell: ActorCell, middleware: Middleware, hook: string, error: unknown): void {
    const failure = new MiddlewareError(middleware.name, hook, toError(error));
    this.runtime.lifecycle.failed(cell, failure, -1, undefined, hook);
  }
}

/** A thenable is asked once, whatever it does when it is asked twice: two of us want to know when it settles. */
function promiseOf(result: unknown): Promise<unknown> | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  if (result instanceof Promise) return result;
  return typeof (result as PromiseLike<unknown>).then === 'function' ? Promise.resolve(result) : undefined;
}

function conditionOf(until: ResumeOn): ResumeCondition {
  if (until.on === 'capacity') return { on: 'capacity' };
  return until.on === 'settled' ? { on: 'settled' } : until;
}

/** A held message waits for a time or an event; the other two conditions mean the actor's own mailbox and promise. */
function resumeOf(cell: ActorCell, condition: ResumeCondition): ResumeOn {
  if (condition.on === 'capacity') return { on: 'capacity', of: cell.ref };
  return condition.on === 'settled' ? { on: 'after', ms: 0 } : condition;
}
