import { HandlerTimeoutError, MiddlewareError, toError } from '../errors.js';
import type { Middleware, Outcome, RetryRequest, Verdict } from '../invoker/middleware.js';
import { mustBePossible, mustBeTime, type Pipeline, wants } from '../invoker/pipeline.js';
import { FAULT, SETTLED } from '../mailbox/status.js';
import type { DeadLetterReason } from '../message/dead-letter.js';
import { ENVELOPE, type Envelope } from '../message/envelope.js';
import type { ResumeCondition } from '../message/suspension.js';
import type { InvokeCode, InvokeResult } from '../ready/invoke-result.js';
import { COMPLETED, FAILED, STOPPED, YIELDED } from '../ready/invoke-result.js';
import { TimerNode } from '../timer-wheel.js';
import { Awaiting, park } from './awaiting.js';
import type { ActorCell } from './cell.js';
import type { ResumeOn } from './context.js';
import { Arming, Lost, Passage, Sending, Turn } from './hook-views.js';
import type { Runtime } from './runtime.js';

/** What keeps a message from its handler. */
type Denial = Exclude<Verdict, { readonly verdict: 'continue' }>;
type Run = (context: unknown, payload: unknown) => unknown;

const COMPLETED_ALL: InvokeResult = Object.freeze({ kind: 'completed', readyHint: false });
const COMPLETED_BUT_READY: InvokeResult = Object.freeze({ kind: 'completed', readyHint: true });
const HAS_YIELDED: InvokeResult = Object.freeze({ kind: 'yielded' });
const HAS_STOPPED: InvokeResult = Object.freeze({ kind: 'stopped' });
const SETTLEMENT: ResumeCondition = Object.freeze({ on: 'settled' });
const IS_AWAITING: InvokeResult = Object.freeze({
  kind: 'suspended',
  reason: 'awaiting',
  resumeOn: SETTLEMENT,
});

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
  /** The time that hooks see, read once for all of them before a handler and once after it, if one of them asks. */
  private time = 0;
  private timeIsKnown = false;
  /** When the handler at work was called; of a handler that awaits, when it was awaited. */
  private startedAt = 0;

  /** Set while a timer sends. */
  private armedBy: Arming | undefined = undefined;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /** What a timer remembers of the message in whose handling it is armed; undefined when nobody gave it a context. */
  armingOf(owner: ActorCell): Arming | undefined {
    const { pipeline } = owner.kind;
    if (pipeline === undefined || !pipeline.hasSendHook) return undefined;
    const { delivery, invoker } = this.runtime;
    const own = delivery.sender === owner ? invoker.envelope : undefined;
    const envelope = owner.extras?.awaiting?.envelope ?? own;
    if (envelope?.context === undefined) return undefined;
    return new Arming(pipeline, envelope.context);
  }

  /** Runs the send of a timer, so that the send hooks see what it goes back to. */
  sendArmed(arming: Arming, send: () => void): void {
    this.armedBy = arming;
    try {
      send();
    } finally {
      this.armedBy = undefined;
    }
  }

  get now(): number {
    if (!this.timeIsKnown) {
      this.time = this.runtime.host.now();
      this.timeIsKnown = true;
    }
    return this.time;
  }

  // Sends -------------------------------------------------------------------------------------------------------

  /** A send hook that throws must not reach the sender: the message goes without its context, the actor has failed. */
  contextFor(cell: ActorCell, envelope: Envelope): unknown {
    const { senders } = cell.kind.pipeline as Pipeline;
    // An ask after an await knows both; a tell is made where they are known.
    const sender = (envelope.sender as ActorCell | undefined) ?? this.runtime.delivery.sender;
    const cause = (envelope.cause ?? this.runtime.invoker.envelope)?.context;
    const sending = new Sending(cell, envelope.handler, envelope.payload, sender);
    if (senders.length === 1) return this.contextBy(senders[0] as Middleware, cell, sending, cause);
    const contexts: unknown[] = [];
    for (let i = 0; i < senders.length; i += 1) {
      contexts.push(this.contextBy(senders[i] as Middleware, cell, sending, cause));
    }
    return contexts;
  }

  private contextBy(middleware: Middleware, cell: ActorCell, sending: Sending, cause: unknown): unknown {
    try {
      if (cause !== undefined) sending.cause = sending.sender?.kind.pipeline?.contextOf(cause, middleware);
      if (this.armedBy !== undefined) sending.armedBy = this.armedBy.contextFor(middleware);
      return middleware.onSend?.(sending);
    } catch (error) {
      const failure = new MiddlewareError(middleware.name, 'onSend', toError(error));
      this.runtime.lifecycle.failed(cell, failure, sending.handler, undefined);
      return undefined;
    }
  }

  /** Whoever gave the message a context may have something to end. It is nobody's failure: there is no handler to fail. */
  lost(cell: ActorCell, envelope: Envelope, reason: DeadLetterReason): void {
    const { pipeline } = cell.kind;
    if (pipeline === undefined || pipeline.mourners.length === 0) return;
    for (const middleware of pipeline.mourners) {
      const context = pipeline.contextOf(envelope.context, middleware);
      if (context === undefined) continue;
      try {
        middleware.onLost?.(new Lost(cell, envelope, reason, context));
      } catch (error) {
        const { message } = new MiddlewareError(middleware.name, 'onLost', toError(error));
        this.runtime.log('error', `${cell.path}: ${message}`, { path: cell.path, error });
      }
    }
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
    if (code === COMPLETED) return cell.queue.length > 0 ? COMPLETED_BUT_READY : COMPLETED_ALL;
    if (code === YIELDED) return HAS_YIELDED;
    if (code === STOPPED) return HAS_STOPPED;
    const failure = cell.extras?.failure;
    if (code === FAILED || ((cell.status & FAULT) !== 0 && failure !== undefined)) {
      return { kind: 'failed', error: failure?.error };
    }
    const open = cell.extras?.suspensions.at(-1);
    if (open !== undefined)
      return { kind: 'suspended', reason: open.reason, resumeOn: conditionOf(open.until) };
    return IS_AWAITING;
  }

  // Messages ----------------------------------------------------------------------------------------------------

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
        this.hookFailed(cell, middleware, 'beforeMessage', error);
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
    const limit = passage.limit === undefined ? undefined : this.limit(passage, awaiting);
    const settled = (): void => {
      if (limit !== undefined) wheel.cancel(limit);
    };
    if (limit !== undefined) promise.then(settled, settled);
    awaiting.onDropped = () => {
      settled();
      this.leave(cell, passage, { kind: 'abandoned', ms: took() });
    };
  }

  private limit(passage: Passage, awaiting: Awaiting): HandlerLimit {
    const { host, ready, wheel } = this.runtime;
    const { cell } = passage;
    const withinMs = limitOf(passage);
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
function promiseOf(result: object): Promise<unknown> | undefined {
  if (result instanceof Promise) return result;
  return typeof (result as PromiseLike<unknown>).then === 'function' ? Promise.resolve(result) : undefined;
}

function limitOf(passage: Passage): number {
  return passage.limit?.withinMs ?? Number.POSITIVE_INFINITY;
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
