import { MiddlewareError, toError } from '../errors.js';
import type { Middleware, Outcome, RetryRequest, Verdict } from '../invoker/middleware.js';
import { mustBePossible, mustBeTime, type Pipeline, wants } from '../invoker/pipeline.js';
import { ENVELOPE, type Envelope } from '../message/envelope.js';
import type { ResumeCondition } from '../message/suspension.js';
import { Awaiting, park } from './awaiting.js';
import type { ActorCell } from './cell.js';
import type { ResumeOn } from './context.js';
import { armLimit } from './handler-limit.js';
import { hookFailed } from './hook-failure.js';
import { Passage } from './hook-views.js';
import type { Runtime } from './runtime.js';

/** What keeps a message from its handler. */
type Denial = Exclude<Verdict, { readonly verdict: 'continue' }>;
type Run = (context: unknown, payload: unknown) => unknown;

/** Runs messages through an actor's middleware. Hooks that were entered are left again, in reverse. */
export class MessageHooks {
  private readonly runtime: Runtime;
  /** How often the message at the head of a mailbox was put back, by actor. */
  private readonly retries = new WeakMap<ActorCell, number>();
  /** Most systems never retry, and then need not look. */
  private hasRetried = false;
  /** The time that hooks see, read once for all of them before a handler and once after it, if one of them asks. */
  private time = 0;
  private timeIsKnown = false;
  /** When the handler at work was called; of a handler that awaits, when it was awaited. */
  private startedAt = 0;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  get now(): number {
    if (!this.timeIsKnown) {
      this.time = this.runtime.host.now();
      this.timeIsKnown = true;
    }
    return this.time;
  }

  runNext(cell: ActorCell): void {
    const { ready, lifecycle } = this.runtime;
    ready.queued -= 1;
    const slot = cell.queue.peek();
    const taken = cell.queue.take();
    const envelope = slot === ENVELOPE ? (taken as Envelope) : undefined;
    if (envelope !== undefined && envelope.deadline < 0) return lifecycle.expired(cell, envelope);
    if ((cell.kind.pipeline as Pipeline).isQuiet) return this.runQuietly(cell, slot, taken, envelope);
    const passage = this.passageOf(cell, slot, taken, envelope);
    const verdict = this.enter(cell, passage);
    if (verdict === undefined) this.run(cell, passage);
    else this.obey(cell, passage, slot, verdict);
  }

  private passageOf(cell: ActorCell, slot: number, taken: unknown, envelope: Envelope | undefined): Passage {
    const passage =
      envelope === undefined
        ? new Passage(cell, slot, taken, undefined)
        : new Passage(cell, envelope.handler, envelope.payload, envelope);
    this.timeIsKnown = false;
    if (this.hasRetried) passage.retries = this.retries.get(cell) ?? 0;
    return passage;
  }

  /** The message does not reach its handler. */
  private obey(cell: ActorCell, passage: Passage, slot: number, verdict: Denial): void {
    const { ready, invoker } = this.runtime;
    const { envelope } = passage;
    const taken = envelope ?? passage.payload;
    switch (verdict.verdict) {
      case 'hold':
        invoker.discount();
        cell.queue.unshift(slot, taken);
        ready.queued += 1;
        this.leave(cell, passage, { kind: 'held' });
        this.runtime.suspensions.suspend(cell, verdict.reason, resumeOf(cell, verdict.resumeOn));
        return;
      case 'refuse':
        invoker.discount();
        this.leave(cell, passage, { kind: 'refused', why: verdict.why });
        this.runtime.deadLetters.undelivered(cell, slot, taken, 'refused', verdict.why);
        return;
      case 'answer':
        this.leave(cell, passage, { kind: 'handled', reply: verdict.reply, ms: 0 });
        if (envelope !== undefined) this.runtime.asks.reply(envelope, verdict.reply);
        return;
      default:
        verdict satisfies never;
    }
  }

  /** Undefined when every hook lets the message through. */
  private enter(cell: ActorCell, passage: Passage): Denial | undefined {
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

  private run(cell: ActorCell, passage: Passage): void {
    const { isTimed } = cell.kind.pipeline as Pipeline;
    this.begin(cell, isTimed, passage.envelope, passage.handler, passage.payload);
    let result: unknown;
    let promise: Promise<unknown> | undefined;
    try {
      result = this.call(cell, passage);
      if (typeof result === 'object' && result !== null) promise = promiseOf(result);
    } catch (error) {
      this.runtime.invoker.endMessage();
      this.failed(cell, passage, error, isTimed ? this.sinceStart() : Number.NaN);
      return;
    }
    if (this.end(cell)) {
      this.timeIsKnown = false;
      this.leave(cell, passage, { kind: 'held' });
    } else if (promise !== undefined) {
      this.await(cell, passage, promise, isTimed ? this.startedAt : this.runtime.executor.coarseNow);
    } else {
      this.handled(cell, passage, result, isTimed ? this.sinceStart() : Number.NaN);
    }
  }

  /** The same where no hook is called before a handler or after one that went well: only the others need a passage. */
  private runQuietly(cell: ActorCell, slot: number, taken: unknown, envelope: Envelope | undefined): void {
    const { isTimed } = cell.kind.pipeline as Pipeline;
    const number = envelope === undefined ? slot : envelope.handler;
    const payload = envelope === undefined ? taken : envelope.payload;
    this.begin(cell, isTimed, envelope, number, payload);
    let result: unknown;
    let promise: Promise<unknown> | undefined;
    try {
      result = (cell.kind.handlers[number] as Run)(cell, payload);
      if (typeof result === 'object' && result !== null) promise = promiseOf(result);
    } catch (error) {
      this.runtime.invoker.endMessage();
      const passage = this.enteredOf(cell, slot, taken, envelope);
      this.failed(cell, passage, error, isTimed ? this.sinceStart() : Number.NaN);
      return;
    }
    if (this.end(cell)) {
      this.leave(cell, this.enteredOf(cell, slot, taken, envelope), { kind: 'held' });
    } else if (promise !== undefined) {
      const passage = this.enteredOf(cell, slot, taken, envelope);
      this.await(cell, passage, promise, isTimed ? this.startedAt : this.runtime.executor.coarseNow);
    } else {
      if (this.hasRetried) this.retries.delete(cell);
      if (envelope !== undefined) this.runtime.lifecycle.answer(envelope, result);
    }
  }

  /** Hooks without a `beforeMessage` have always been entered. */
  private enteredOf(cell: ActorCell, slot: number, taken: unknown, envelope: Envelope | undefined): Passage {
    const passage = this.passageOf(cell, slot, taken, envelope);
    passage.entered = (cell.kind.pipeline as Pipeline).messages.length;
    return passage;
  }

  private begin(
    cell: ActorCell,
    isTimed: boolean,
    envelope: Envelope | undefined,
    handler: number,
    payload: unknown,
  ): void {
    const { invoker } = this.runtime;
    if (isTimed) this.startedAt = this.runtime.host.now();
    invoker.envelope = envelope;
    // Only a stash asks which message is being handled.
    if (cell.kind.spec.stashMax === undefined) return;
    invoker.currentHandler = envelope === undefined ? handler : ENVELOPE;
    invoker.currentPayload = envelope ?? payload;
  }

  /** True when the handler put its message aside. */
  private end(cell: ActorCell): boolean {
    const { invoker } = this.runtime;
    if (invoker.stashed || cell.kind.spec.stashMax !== undefined) return invoker.endMessage();
    invoker.envelope = undefined;
    return false;
  }

  /** What the hooks after the handler see as `now` is also where its time ends. */
  private sinceStart(): number {
    this.timeIsKnown = false;
    return this.now - this.startedAt;
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

  private await(cell: ActorCell, passage: Passage, promise: Promise<unknown>, startedAt: number): void {
    const { ready, wheel } = this.runtime;
    const took = (): number => {
      this.startedAt = startedAt;
      return this.sinceStart();
    };
    const awaiting = new Awaiting(
      passage.message,
      passage.handler,
      passage.envelope,
      startedAt,
      (settled, { error, value }) => {
        if (error === undefined) this.handled(settled, passage, value, took());
        else this.failed(settled, passage, error.thrown, took());
      },
    );
    park(cell, promise, awaiting);
    ready.pressure.relieveIfCaughtUp(cell);
    const limit = passage.limit === undefined ? undefined : armLimit(cell, limitOf(passage), awaiting);
    const settled = (): void => {
      if (limit !== undefined) wheel.cancel(limit);
    };
    if (limit !== undefined) promise.then(settled, settled);
    awaiting.onDropped = () => {
      settled();
      this.leave(cell, passage, { kind: 'abandoned', ms: took() });
    };
  }

  private handled(cell: ActorCell, passage: Passage, reply: unknown, ms: number): void {
    if ((cell.kind.pipeline as Pipeline).wantsHandled) {
      if (Number.isNaN(ms)) this.timeIsKnown = false;
      this.leave(cell, passage, { kind: 'handled', reply, ms });
    }
    if (this.hasRetried) this.retries.delete(cell);
    if (passage.envelope !== undefined) this.runtime.lifecycle.answer(passage.envelope, reply);
  }

  private failed(cell: ActorCell, passage: Passage, thrown: unknown, ms: number): void {
    const error = toError(thrown);
    if (Number.isNaN(ms)) this.timeIsKnown = false;
    const retry = this.leave(cell, passage, { kind: 'failed', error, ms });
    if (retry !== undefined && passage.retryable) return this.tryAgain(cell, passage, retry);
    this.retries.delete(cell);
    this.runtime.lifecycle.failed(cell, error, passage.handler, passage.envelope);
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
}

/** A thenable is asked once, whatever it does when it is asked twice: two of us want to know when it settles. */
function promiseOf(result: object): Promise<unknown> | undefined {
  if (result instanceof Promise) return result;
  return typeof (result as PromiseLike<unknown>).then === 'function' ? Promise.resolve(result) : undefined;
}

function limitOf(passage: Passage): number {
  return passage.limit?.withinMs ?? Number.POSITIVE_INFINITY;
}

/** A held message waits for a time or an event; the other two conditions mean the actor's own mailbox and promise. */
function resumeOf(cell: ActorCell, condition: ResumeCondition): ResumeOn {
  if (condition.on === 'capacity') return { on: 'capacity', of: cell.ref };
  return condition.on === 'settled' ? { on: 'after', ms: 0 } : condition;
}
