import type { ActorCell } from '../../actor/actor-cell.js';
import type { Parts } from '../../actor/runtime-parts.js';
import type { ResumeOn } from '../../define/actor-context.js';
import { MiddlewareError } from '../../errors/error-classes.js';
import { toError } from '../../errors/thrown-value.js';
import { UnsettledHandler } from '../../invoker/unsettled-handler.js';
import type { Stashed } from '../../mailbox/stashes.js';
import { Envelope, enveloped, handlerOf, isEnveloped } from '../../message/envelope.js';
import type { ResumeCondition } from '../../message/suspend-reason.js';
import { HandlerTimeLimit } from '../handler-time-limit.js';
import type { RetryRequest } from '../middleware.js';
import type { Pipeline } from '../pipeline.js';
import { type BlockingVerdict, limitOf, runAfterHooks, runBeforeHooks } from './before-after-hooks.js';
import { CachedHookTime } from './cached-hook-time.js';
import { MessageHookContext } from './hook-contexts.js';

type Run = (context: unknown, payload: unknown) => unknown;

/** Runs messages through an actor's middleware. Hooks that were entered are left again, in reverse. */
export class MessageHooks {
  readonly clock: CachedHookTime;
  private readonly runtime: Parts<
    | 'asks'
    | 'deadLetters'
    | 'executor'
    | 'failures'
    | 'host'
    | 'invoker'
    | 'monitor'
    | 'results'
    | 'parking'
    | 'ready'
    | 'stashes'
    | 'suspensions'
    | 'missingPhaseHandlers'
    | 'unreturned'
    | 'wheel'
  >;
  /** How often a message was put back for another try. */
  private readonly retries = new WeakMap<Envelope, number>();

  constructor(runtime: MessageHooks['runtime']) {
    this.runtime = runtime;
    this.clock = new CachedHookTime(runtime.host);
  }

  retriesOf(envelope: Envelope | undefined): number {
    return envelope === undefined ? 0 : (this.retries.get(envelope) ?? 0);
  }

  runNext(cell: ActorCell): void {
    const { ready, results, missingPhaseHandlers } = this.runtime;
    ready.queued -= 1;
    const slot = cell.queue.peek();
    const taken = cell.queue.take();
    const envelope = isEnveloped(slot) ? (taken as Envelope) : undefined;
    if (envelope !== undefined && envelope.deadline < 0) return results.expired(cell, envelope);
    const isLegal = cell.type.phase === undefined || !missingPhaseHandlers.has(cell, handlerOf(slot));
    if (isLegal && (cell.type.pipeline as Pipeline).isFailureOnly)
      return this.run(cell, slot, taken, undefined);
    const hookContext = this.hookContextOf(cell, slot, taken);
    const verdict = runBeforeHooks(this.runtime.failures, cell, hookContext);
    if (verdict !== undefined) this.applyVerdict(cell, hookContext, slot, verdict);
    else if (isLegal) this.run(cell, slot, taken, hookContext);
    else this.rejectInPhase(cell, hookContext, slot, taken);
  }

  private hookContextOf(cell: ActorCell, slot: number, taken: unknown): MessageHookContext {
    this.clock.expire();
    if (!isEnveloped(slot)) return new MessageHookContext(cell, slot, taken, undefined);
    const envelope = taken as Envelope;
    return new MessageHookContext(cell, envelope.handler, envelope.payload, envelope);
  }

  /** Without a hook before handlers or after successful ones, only failures need a context. */
  private failureHookContextOf(cell: ActorCell, slot: number, taken: unknown): MessageHookContext {
    const hookContext = this.hookContextOf(cell, slot, taken);
    hookContext.entered = (cell.type.pipeline as Pipeline).messages.length;
    return hookContext;
  }

  /** Without a handler in the present phase: stashed, or a dead letter. Nothing was handled. */
  private rejectInPhase(
    cell: ActorCell,
    hookContext: MessageHookContext,
    slot: number,
    taken: unknown,
  ): void {
    const { missingPhaseHandlers, invoker, stashes, deadLetters } = this.runtime;
    if (!missingPhaseHandlers.isStashed(cell)) {
      const why = missingPhaseHandlers.reasonFor(cell);
      invoker.discount();
      runAfterHooks(this.runtime.failures, cell, hookContext, { kind: 'refused', why });
      deadLetters.undelivered(cell, slot, taken, 'illegal', why);
      return;
    }
    try {
      stashes.put(cell, slot, taken);
    } catch (error) {
      this.failed(cell, hookContext, error, 0);
      return;
    }
    runAfterHooks(this.runtime.failures, cell, hookContext, { kind: 'held' });
  }

  /** The message does not reach its handler. */
  private applyVerdict(
    cell: ActorCell,
    hookContext: MessageHookContext,
    slot: number,
    verdict: BlockingVerdict,
  ): void {
    const { ready, invoker } = this.runtime;
    const { envelope } = hookContext;
    const taken = envelope ?? hookContext.payload;
    switch (verdict.verdict) {
      case 'hold':
        invoker.discount();
        cell.queue.unshift(slot, taken);
        ready.queued += 1;
        runAfterHooks(this.runtime.failures, cell, hookContext, { kind: 'held' });
        this.runtime.suspensions.suspend(cell, verdict.reason, resumeOf(cell, verdict.resumeOn));
        return;
      case 'refuse':
        invoker.discount();
        runAfterHooks(this.runtime.failures, cell, hookContext, { kind: 'refused', why: verdict.why });
        this.runtime.deadLetters.undelivered(cell, slot, taken, 'refused', verdict.why);
        return;
      case 'answer':
        runAfterHooks(this.runtime.failures, cell, hookContext, {
          kind: 'handled',
          reply: verdict.reply,
          ms: 0,
        });
        if (envelope !== undefined) this.runtime.asks.reply(envelope, verdict.reply);
        return;
      default:
        verdict satisfies never;
    }
  }

  /** Without a context in a failure-only pipeline, where only a message that fails needs one. */
  private run(cell: ActorCell, slot: number, taken: unknown, entered: MessageHookContext | undefined): void {
    const { runtime } = this;
    const { handlers, pipeline } = cell.type;
    const { isTimed, wantsHandled, wrappers } = pipeline as Pipeline;
    const envelope = isEnveloped(slot) ? (taken as Envelope) : undefined;
    const run = handlers[handlerOf(slot)] as Run;
    const startedAt = isTimed ? runtime.host.now() : Number.NaN;
    this.begin(slot, taken, envelope);
    if (entered?.limit !== undefined) runtime.monitor?.limited(limitOf(entered));
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
      const hookContext = entered ?? this.failureHookContextOf(cell, slot, taken);
      this.failed(cell, hookContext, error, this.timeSince(startedAt));
      return;
    } finally {
      if (entered?.limit !== undefined) runtime.monitor?.limited(0);
    }
    if (runtime.unreturned.count !== 0) runtime.unreturned.returned(result);
    const isStashed = this.runtime.invoker.endMessage();
    if (isStashed || promise !== undefined) {
      const hookContext = entered ?? this.failureHookContextOf(cell, slot, taken);
      const stashed = isStashed ? runtime.stashes.latestOf(cell) : undefined;
      if (promise === undefined) this.leaveAsHeld(cell, hookContext);
      else this.await(cell, hookContext, promise, startedAt, stashed);
    } else if (wantsHandled) {
      this.handled(cell, entered as MessageHookContext, result, this.timeSince(startedAt));
    } else if (envelope !== undefined) {
      runtime.asks.answer(envelope, result);
    }
  }

  private leaveAsHeld(cell: ActorCell, hookContext: MessageHookContext): void {
    this.clock.expire();
    runAfterHooks(this.runtime.failures, cell, hookContext, { kind: 'held' });
  }

  private begin(slot: number, taken: unknown, envelope: Envelope | undefined): void {
    const { invoker } = this.runtime;
    invoker.envelope = envelope;
    // For a stash.
    invoker.currentHandler = slot;
    invoker.currentPayload = taken;
  }

  /**
   * The `now` of the hooks after the handler is also the end of its time. NaN where handlers are not timed.
   */
  private timeSince(startedAt: number): number {
    this.clock.expire();
    return Number.isNaN(startedAt) ? startedAt : this.clock.now - startedAt;
  }

  private wrapped(cell: ActorCell, hookContext: MessageHookContext, handler: Run, index: number): unknown {
    const pipeline = cell.type.pipeline as Pipeline;
    const wrapper = pipeline.wrappers[index];
    try {
      if (wrapper === undefined) return handler(cell, hookContext.payload);
      hookContext.context = pipeline.contextOf(hookContext.envelope?.context, wrapper);
      return wrapper.around?.(hookContext, () => this.wrapped(cell, hookContext, handler, index + 1));
    } catch (error) {
      if (wrapper === undefined || hookContext.thrown?.error === error) {
        hookContext.thrown = { error };
        throw error;
      }
      const failure = new MiddlewareError(wrapper.name, 'around', toError(error));
      hookContext.thrown = { error: failure };
      throw failure;
    }
  }

  /** `stashed`: its own message, if the handler stashed it before it awaited. */
  private await(
    cell: ActorCell,
    hookContext: MessageHookContext,
    promise: PromiseLike<unknown>,
    calledAt: number,
    stashed: Stashed | undefined,
  ): void {
    // An asynchronous handler is timed in any case.
    const startedAt = Number.isNaN(calledAt) ? this.runtime.executor.coarseNow : calledAt;
    const limit =
      hookContext.limit === undefined
        ? undefined
        : new HandlerTimeLimit(this.runtime, cell, limitOf(hookContext));
    const awaiting = new UnsettledHandler(
      hookContext.message,
      hookContext.handler,
      stashed === undefined ? hookContext.envelope : undefined,
      startedAt,
      (settled, { error, value }) => {
        limit?.end();
        const ms = this.timeSince(startedAt);
        hookContext.isCutOff = limit?.isCutOff ?? false;
        const failure = limit?.failureOf(error) ?? error;
        if (failure === error && this.hasEndedByAbort(settled, hookContext, error, ms)) return;
        if (failure !== undefined) this.failedLate(settled, hookContext, failure.thrown, ms, stashed);
        else if (stashed !== undefined) this.leaveAsHeld(settled, hookContext);
        else this.handled(settled, hookContext, value, ms);
      },
    );
    awaiting.onAbandoned = () => {
      limit?.end();
      if (stashed === undefined)
        runAfterHooks(this.runtime.failures, cell, hookContext, {
          kind: 'abandoned',
          ms: this.timeSince(startedAt),
        });
      else this.leaveAsHeld(cell, hookContext);
    };
    this.runtime.parking.park(cell, promise, awaiting);
    limit?.begin(awaiting);
  }

  private handled(cell: ActorCell, hookContext: MessageHookContext, reply: unknown, ms: number): void {
    if ((cell.type.pipeline as Pipeline).wantsHandled)
      runAfterHooks(this.runtime.failures, cell, hookContext, { kind: 'handled', reply, ms });
    if (hookContext.envelope !== undefined) this.runtime.asks.answer(hookContext.envelope, reply);
  }

  /** The asker has given up, and so has the handler. */
  private hasEndedByAbort(
    cell: ActorCell,
    hookContext: MessageHookContext,
    error: { readonly thrown: unknown } | undefined,
    ms: number,
  ): boolean {
    if (error === undefined || !this.runtime.asks.hasEndedByAbort(hookContext.envelope, error.thrown))
      return false;
    runAfterHooks(this.runtime.failures, cell, hookContext, { kind: 'abandoned', ms });
    return true;
  }

  /** A stashed message that is in the mailbox again will be handled: the failure is the actor's alone. */
  private failedLate(
    cell: ActorCell,
    hookContext: MessageHookContext,
    thrown: unknown,
    ms: number,
    stashed: Stashed | undefined,
  ): void {
    const { failures, stashes } = this.runtime;
    if (stashed === undefined || stashes.takeOut(cell, stashed))
      return this.failed(cell, hookContext, thrown, ms);
    this.leaveAsHeld(cell, hookContext);
    const { handler, isCutOff } = hookContext;
    failures.failed(cell, toError(thrown), handler, undefined, { isCutOff });
  }

  private failed(cell: ActorCell, hookContext: MessageHookContext, thrown: unknown, ms: number): void {
    const error = toError(thrown);
    const retry = runAfterHooks(this.runtime.failures, cell, hookContext, { kind: 'failed', error, ms });
    if (retry !== undefined && hookContext.retryable) return this.tryAgain(cell, hookContext, retry);
    const { handler, envelope, isCutOff } = hookContext;
    this.runtime.failures.failed(cell, error, handler, envelope, { isCutOff });
  }

  /**
   * The message goes back to the head of the mailbox, so order is kept. From now on it travels as an
   * envelope, which carries its count of tries.
   */
  private tryAgain(cell: ActorCell, hookContext: MessageHookContext, retry: RetryRequest): void {
    const envelope = hookContext.envelope ?? this.envelopeOf(cell, hookContext);
    this.retries.set(envelope, hookContext.retries + 1);
    this.runtime.invoker.discount();
    this.runtime.results.putBack(cell, enveloped(envelope.handler), envelope);
    this.runtime.suspensions.suspend(cell, { user: 'retry' }, { on: 'after', ms: retry.retryAfterMs });
  }

  private envelopeOf(cell: ActorCell, { handler, payload }: MessageHookContext): Envelope {
    const now = this.runtime.executor.coarseNow;
    return new Envelope(cell, handler, payload, undefined, undefined, Number.POSITIVE_INFINITY, now);
  }
}

function promiseOf(result: object): PromiseLike<unknown> | undefined {
  return typeof (result as PromiseLike<unknown>).then === 'function'
    ? (result as PromiseLike<unknown>)
    : undefined;
}

/**
 * A held message waits for a time or an event; the other two conditions mean the actor's own mailbox and
 * promise.
 */
function resumeOf(cell: ActorCell, condition: ResumeCondition): ResumeOn {
  if (condition.on === 'capacity') return { on: 'capacity', of: cell.ref };
  return condition.on === 'settled' ? { on: 'after', ms: 0 } : condition;
}
