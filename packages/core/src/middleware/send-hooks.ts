import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { MiddlewareError, toError } from '../errors.js';
import type { DeadLetterReason } from '../message/dead-letter.js';
import type { Envelope } from '../message/envelope.js';
import { DeadLetterHookContext, SendHookContext, TimerContext } from './hook-contexts.js';
import type { Middleware } from './middleware.js';
import type { Pipeline } from './pipeline.js';

/** Runs `onSend`, which gives messages their contexts, and `onDeadLetter`. */
export class SendHooks {
  private readonly runtime: Parts<'delivery' | 'diagnostics' | 'failures' | 'invoker'>;
  /** Set while a timer sends. */
  private armedBy: TimerContext | undefined = undefined;

  constructor(runtime: SendHooks['runtime']) {
    this.runtime = runtime;
  }

  /** For a timer: the context of the message during which it is armed, if that message has one. */
  timerContextFor(owner: ActorCell): TimerContext | undefined {
    const { pipeline } = owner.type;
    if (pipeline === undefined || !pipeline.hasSendHook) return undefined;
    const { delivery, invoker } = this.runtime;
    const own = delivery.sender === owner ? invoker.envelope : undefined;
    const envelope = owner.cold?.awaiting?.envelope ?? own;
    if (envelope?.context === undefined) return undefined;
    return new TimerContext(pipeline, envelope.context);
  }

  /** Runs the send of a timer, so that the send hooks see the context of its arming. */
  sendForTimer(timerContext: TimerContext, send: () => void): void {
    this.armedBy = timerContext;
    try {
      send();
    } finally {
      this.armedBy = undefined;
    }
  }

  /**
   * A send hook that throws must not reach the sender: the message goes without its context, the actor has
   * failed.
   */
  contextFor(cell: ActorCell, envelope: Envelope): unknown {
    const { senders } = cell.type.pipeline as Pipeline;
    // An ask after an await carries both; a tell is made while its sender runs.
    const sender = (envelope.sender as ActorCell | undefined) ?? this.runtime.delivery.sender;
    const cause = (envelope.cause ?? this.runtime.invoker.envelope)?.context;
    const hookContext = new SendHookContext(cell, envelope.handler, envelope.payload, sender);
    if (senders.length === 1) return this.contextBy(senders[0] as Middleware, cell, hookContext, cause);
    const contexts: unknown[] = [];
    for (let i = 0; i < senders.length; i += 1) {
      contexts.push(this.contextBy(senders[i] as Middleware, cell, hookContext, cause));
    }
    return contexts;
  }

  private contextBy(
    middleware: Middleware,
    cell: ActorCell,
    hookContext: SendHookContext,
    cause: unknown,
  ): unknown {
    try {
      if (cause !== undefined)
        hookContext.cause = hookContext.sender?.type.pipeline?.contextOf(cause, middleware);
      if (this.armedBy !== undefined) hookContext.armedBy = this.armedBy.contextFor(middleware);
      return middleware.onSend?.(hookContext);
    } catch (error) {
      const failure = new MiddlewareError(middleware.name, 'onSend', toError(error));
      this.runtime.failures.failed(cell, failure, hookContext.handler, undefined);
      return undefined;
    }
  }

  /**
   * The middleware of the context may have something to end. An error is logged: there is no handler to fail.
   */
  deadLettered(cell: ActorCell, envelope: Envelope, reason: DeadLetterReason): void {
    const { pipeline } = cell.type;
    if (pipeline === undefined || pipeline.deadLetterHooks.length === 0) return;
    for (const middleware of pipeline.deadLetterHooks) {
      const context = pipeline.contextOf(envelope.context, middleware);
      if (context === undefined) continue;
      try {
        middleware.onDeadLetter?.(new DeadLetterHookContext(cell, envelope, reason, context));
      } catch (error) {
        const { message } = new MiddlewareError(middleware.name, 'onDeadLetter', toError(error));
        this.runtime.diagnostics.log('error', `${cell.path}: ${message}`, { path: cell.path, error });
      }
    }
  }
}
