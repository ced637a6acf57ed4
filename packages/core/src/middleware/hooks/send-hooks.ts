import type { ActorCell } from '../../actor/actor-cell.js';
import type { Parts } from '../../actor/runtime-parts.js';
import { MiddlewareError } from '../../errors/error-classes.js';
import { toError } from '../../errors/thrown-value.js';
import type { Envelope } from '../../message/envelope.js';
import type { ArrivedContexts } from '../crossing-contexts.js';
import type { Middleware } from '../middleware.js';
import type { Pipeline } from '../pipeline.js';
import { SendHookContext, TimerContext } from './hook-contexts.js';

/** Runs `onSend`, which gives a message its context, also for messages that a timer sends. */
export class SendHooks {
  private readonly runtime: Parts<'delivery' | 'failures' | 'invoker'>;
  /** Set while a timer sends. */
  private armedBy: TimerContext | undefined = undefined;
  /** Set while a router passes on a message of another thread. */
  private arrived: ArrivedContexts | undefined = undefined;

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

  /** Runs the sends of a router for a message of another thread: its contexts are their cause. */
  sendForArrival(arrived: ArrivedContexts, send: () => void): void {
    this.arrived = arrived;
    try {
      send();
    } finally {
      this.arrived = undefined;
    }
  }

  /**
   * A send hook that throws must not reach the sender: the message goes without its context, the actor has
   * failed.
   */
  contextFor(cell: ActorCell, envelope: Envelope, arrived?: ArrivedContexts): unknown {
    const { senders } = cell.type.pipeline as Pipeline;
    // An ask after an await carries both; a tell is made while its sender runs.
    const sender = (envelope.sender as ActorCell | undefined) ?? this.runtime.delivery.sender;
    const cause = (envelope.cause ?? this.runtime.invoker.envelope)?.context;
    const hookContext = new SendHookContext(cell, envelope.handler, envelope.payload, sender);
    if (senders.length === 1)
      return this.contextBy(senders[0] as Middleware, cell, hookContext, cause, arrived);
    const contexts: unknown[] = [];
    for (let i = 0; i < senders.length; i += 1) {
      contexts.push(this.contextBy(senders[i] as Middleware, cell, hookContext, cause, arrived));
    }
    return contexts;
  }

  private contextBy(
    middleware: Middleware,
    cell: ActorCell,
    hookContext: SendHookContext,
    cause: unknown,
    arrived: ArrivedContexts | undefined,
  ): unknown {
    // A message of another thread has had its hook there, if that thread has the middleware.
    const isUnpacked = arrived?.has(middleware) === true;
    try {
      if (isUnpacked) return arrived?.unpack(middleware, hookContext);
      if (this.arrived?.has(middleware) === true)
        hookContext.cause = this.arrived.unpack(middleware, hookContext);
      if (cause !== undefined)
        hookContext.cause = hookContext.sender?.type.pipeline?.contextOf(cause, middleware);
      if (this.armedBy !== undefined) hookContext.armedBy = this.armedBy.contextFor(middleware);
      return middleware.onSend?.(hookContext);
    } catch (error) {
      const failure = new MiddlewareError(
        middleware.name,
        isUnpacked ? 'unpackContext' : 'onSend',
        toError(error),
      );
      this.runtime.failures.failed(cell, failure, hookContext.handler, undefined);
      return undefined;
    }
  }
}
