import type { ActorCell } from '../actor/cell.js';
import type { Runtime } from '../actor/runtime.js';
import type { ResumeOn } from '../define/context.js';
import { MiddlewareError, toError } from '../errors.js';
import { Awaiting, park } from '../lifecycle/awaiting.js';
import type { Stashed } from '../mailbox/stash.js';
import { Envelope, enveloped, handlerOf, isEnveloped } from '../message/envelope.js';
import type { ResumeCondition } from '../message/suspension.js';
import { HandlerLimit } from './handler-time-limit.js';
import { HookClock } from './hook-clock.js';
import { Passage } from './hook-contexts.js';
import type { RetryRequest } from './middleware.js';
import type { Pipeline } from './pipeline.js';
import { type Denial, enter, leave, limitOf } from './run-message-hooks.js';

type Run = (context: unknown, payload: unknown) => unknown;

/** Runs messages through an actor's middleware. Hooks that were entered are left again, in reverse. */
export class MessageHooks {
  readonly clock: HookClock;
  private readonly runtime: Runtime;
  /** How often a message was put back for another try. */
  private readonly retries = new WeakMap<Envelope, number>();

  constructor(runtime: Runtime) {
    this.runtime = runtime;
    this.clock = new HookClock(runtime.host);
  }

  retriesOf(envelope: Envelope | undefined): number {
    return envelope === undefined ? 0 : (this.retries.get(envelope) ?? 0);
  }

  runNext(cell: ActorCell): void {
    const { ready, lifecycle, illegal } = this.runtime;
    ready.queued -= 1;
    const slot = cell.queue.peek();
    const taken = cell.queue.take();
    const envelope = isEnveloped(slot) ? (taken as Envelope) : undefined;
    if (envelope !== undefined && envelope.deadline < 0) return lifecycle.expired(cell, envelope);
    const isLegal = cell.kind.phase === undefined || !illegal.has(cell, handlerOf(slot));
    if (isLegal && (cell.kind.pipeline as Pipeline).isQuiet) return this.run(cell, slot, taken, undefined);
    const passage = this.passageOf(cell, slot, taken);
    const verdict = enter(cell, passage);
    if (verdict !== undefined) this.obey(cell, passage, slot, verdict);
    else if (isLegal) this.run(cell, slot, taken, passage);
    else this.turnAway(cell, passage, slot, taken);
  }

  private passageOf(cell: ActorCell, slot: number, taken: unknown): Passage {
    this.clock.moveOn();
    if (!isEnveloped(slot)) return new Passage(cell, slot, taken, undefined);
    const envelope = taken as Envelope;
    return new Passage(cell, envelope.handler, envelope.payload, envelope);
  }

  /** Where no hook is called before a handler or after one that went well, only the other messages need a passage. */
  private quietPassageOf(cell: ActorCell, slot: number, taken: unknown): Passage {
    const passage = this.passageOf(cell, slot, taken);
    passage.entered = (cell.kind.pipeline as Pipeline).messages.length;
    return passage;
  }

  /** It has no handler in the present phase: set aside, or a dead letter. Nothing was handled. */
  private turnAway(cell: ActorCell, passage: Passage, slot: number, taken: unknown): void {
    const { illegal, invoker, stashes, deadLetters } = this.runtime;
    if (!illegal.isSetAside(cell)) {
      const why = illegal.whyNot(cell);
      invoker.discount();
      leave(cell, passage, { kind: 'refused', why });
      deadLetters.undelivered(cell, slot, taken, 'illegal', why);
      return;
    }
    try {
      stashes.put(cell, slot, taken);
    } catch (error) {
      this.failed(cell, passage, error, 0);
      return;
    }
    leave(cell, passage, { kind: 'held' });
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
        leave(cell, passage, { kind: 'held' });
        this.runtime.suspensions.suspend(cell, verdict.reason, resumeOf(cell, verdict.resumeOn));
        return;
      case 'refuse':
        invoker.discount();
        leave(cell, passage, { kind: 'refused', why: verdict.why });
        this.runtime.deadLetters.undelivered(cell, slot, taken, 'refused', verdict.why);
        return;
      case 'answer':
        leave(cell, passage, { kind: 'handled', reply: verdict.reply, ms: 0 });
        if (envelope !== undefined) this.runtime.asks.reply(envelope, verdict.reply);
        return;
      default:
        verdict satisfies never;
    }
  }

  /** Without a passage in a quiet pipeline, where only a message that does not go well needs one. */
  private run(cell: ActorCell, slot: number, taken: unknown, entered: Passage | undefined): void {
    const { runtime } = this;
    const { handlers, pipeline } = cell.kind;
    const { isTimed, wantsHandled, wrappers } = pipeline as Pipeline;
    const envelope = isEnveloped(slot) ? (taken as Envelope) : undefined;
    const run = handlers[handlerOf(slot)] as Run;
    const startedAt = isTimed ? runtime.host.now() : Number.NaN;
    this.begin(cell, slot, taken, envelope);
    let result: unknown;
    let promise: PromiseLike<unknown> | undefined;
    try {
      result =
        entered !== undefined && wrappers.length > 0
          ? this.wrapped(cell, entered, run, 0)
          : run(cell, envelope === undefined ? taken : envelope.payload);
      if (typeof result === 'object' && result !== null) promise = promiseOf(result);
    } catch (error) {
      runtime.invoker.endMessage();
      const passage = entered ?? this.quietPassageOf(cell, slot, taken);
      this.failed(cell, passage, error, this.timeSince(startedAt));
      return;
    }
    const isSetAside = this.end(cell);
    if (isSetAside || promise !== undefined) {
      const passage = entered ?? this.quietPassageOf(cell, slot, taken);
      const stashed = isSetAside ? runtime.stashes.freshOf(cell) : undefined;
      if (promise === undefined) this.setAside(cell, passage);
      else this.await(cell, passage, promise, startedAt, stashed);
    } else if (wantsHandled) {
      this.handled(cell, entered as Passage, result, this.timeSince(startedAt));
    } else if (envelope !== undefined) {
      runtime.lifecycle.answer(envelope, result);
    }
  }

  private setAside(cell: ActorCell, passage: Passage): void {
    this.clock.moveOn();
    leave(cell, passage, { kind: 'held' });
  }

  private begin(cell: ActorCell, slot: number, taken: unknown, envelope: Envelope | undefined): void {
    const { invoker } = this.runtime;
    invoker.envelope = envelope;
    // Only a stash asks which message is being handled.
    if (cell.kind.spec.stashMax === undefined) return;
    invoker.currentHandler = slot;
    invoker.currentPayload = taken;
  }

  /** True when the handler put its message aside. */
  private end(cell: ActorCell): boolean {
    const { invoker } = this.runtime;
    if (cell.kind.spec.stashMax !== undefined) return invoker.endMessage();
    invoker.envelope = undefined;
    return false;
  }

  /** What the hooks after the handler see as `now` is also where its time ends. NaN where handlers are not timed. */
  private timeSince(startedAt: number): number {
    this.clock.moveOn();
    return Number.isNaN(startedAt) ? startedAt : this.clock.now - startedAt;
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

  /** `stashed`: what the handler has set aside before it awaited, its own message. */
  private await(
    cell: ActorCell,
    passage: Passage,
    promise: PromiseLike<unknown>,
    calledAt: number,
    stashed: Stashed | undefined,
  ): void {
    // A handler that takes its time is timed in any case.
    const startedAt = Number.isNaN(calledAt) ? this.runtime.executor.coarseNow : calledAt;
    const limit = passage.limit === undefined ? undefined : new HandlerLimit(cell, limitOf(passage));
    const awaiting = new Awaiting(
      passage.message,
      passage.handler,
      stashed === undefined ? passage.envelope : undefined,
      startedAt,
      (settled, { error, value }) => {
        limit?.end();
        const ms = this.timeSince(startedAt);
        passage.isCutOff = limit?.isCutOff ?? false;
        const failure = limit?.failureOf(error) ?? error;
        if (failure !== undefined) this.failedLate(settled, passage, failure.thrown, ms, stashed);
        else if (stashed !== undefined) this.setAside(settled, passage);
        else this.handled(settled, passage, value, ms);
      },
    );
    awaiting.onDropped = () => {
      limit?.end();
      if (stashed === undefined) leave(cell, passage, { kind: 'abandoned', ms: this.timeSince(startedAt) });
      else this.setAside(cell, passage);
    };
    park(cell, promise, awaiting);
    limit?.begin(awaiting);
    this.runtime.ready.pressure.relieveIfCaughtUp(cell);
  }

  private handled(cell: ActorCell, passage: Passage, reply: unknown, ms: number): void {
    if ((cell.kind.pipeline as Pipeline).wantsHandled) leave(cell, passage, { kind: 'handled', reply, ms });
    if (passage.envelope !== undefined) this.runtime.lifecycle.answer(passage.envelope, reply);
  }

  /** What was set aside and stands in the mailbox again will be handled: its failure is the actor's alone. */
  private failedLate(
    cell: ActorCell,
    passage: Passage,
    thrown: unknown,
    ms: number,
    stashed: Stashed | undefined,
  ): void {
    const { lifecycle, stashes } = this.runtime;
    if (stashed === undefined || stashes.takeOut(cell, stashed))
      return this.failed(cell, passage, thrown, ms);
    this.setAside(cell, passage);
    const { handler, isCutOff } = passage;
    lifecycle.failed(cell, toError(thrown), handler, undefined, { isCutOff });
  }

  private failed(cell: ActorCell, passage: Passage, thrown: unknown, ms: number): void {
    const error = toError(thrown);
    const retry = leave(cell, passage, { kind: 'failed', error, ms });
    if (retry !== undefined && passage.retryable) return this.tryAgain(cell, passage, retry);
    const { handler, envelope, isCutOff } = passage;
    this.runtime.lifecycle.failed(cell, error, handler, envelope, { isCutOff });
  }

  /**
   * The message goes back to the head and nothing overtakes it: order is kept. From here on it travels as an envelope,
   * so that its count stands by the message itself, whatever becomes of it.
   */
  private tryAgain(cell: ActorCell, passage: Passage, retry: RetryRequest): void {
    const envelope = passage.envelope ?? this.envelopeOf(cell, passage);
    this.retries.set(envelope, passage.retries + 1);
    this.runtime.invoker.discount();
    this.runtime.lifecycle.putBack(cell, enveloped(envelope.handler), envelope);
    this.runtime.suspensions.suspend(cell, { user: 'retry' }, { on: 'after', ms: retry.retryAfterMs });
  }

  private envelopeOf(cell: ActorCell, { handler, payload }: Passage): Envelope {
    const now = this.runtime.executor.coarseNow;
    return new Envelope(cell, handler, payload, undefined, undefined, Number.POSITIVE_INFINITY, now);
  }
}

function promiseOf(result: object): PromiseLike<unknown> | undefined {
  return typeof (result as PromiseLike<unknown>).then === 'function'
    ? (result as PromiseLike<unknown>)
    : undefined;
}

/** A held message waits for a time or an event; the other two conditions mean the actor's own mailbox and promise. */
function resumeOf(cell: ActorCell, condition: ResumeCondition): ResumeOn {
  if (condition.on === 'capacity') return { on: 'capacity', of: cell.ref };
  return condition.on === 'settled' ? { on: 'after', ms: 0 } : condition;
}
