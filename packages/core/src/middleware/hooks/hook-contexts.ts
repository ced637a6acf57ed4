import type { ActorCell } from '../../actor/actor-cell.js';
import type { DeadLetterReason } from '../../message/dead-letter.js';
import type { Envelope } from '../../message/envelope.js';
import type {
  CrossingView,
  DeadLetterView,
  MessageView,
  Middleware,
  SendView,
  TurnView,
  Verdict,
} from '../middleware.js';
import type { Pipeline } from '../pipeline.js';

/** The message that a hook is called for. */
abstract class HookContext {
  readonly cell: ActorCell;
  readonly handler: number;
  readonly payload: unknown;

  constructor(cell: ActorCell, handler: number, payload: unknown) {
    this.cell = cell;
    this.handler = handler;
    this.payload = payload;
  }

  get path(): string {
    return this.cell.path;
  }
  get actor(): string {
    return this.cell.type.name;
  }
  get message(): string {
    return this.cell.type.definition['~handlerNames'][this.handler] as string;
  }
}

type Allowed = Extract<Verdict, { readonly verdict: 'continue' }>;

/**
 * One message on its way through the hooks. Hooks see it as a MessageView; `context` is that of the running
 * hook. One per message, and small: no field is a fraction, which would be an object of its own.
 */
export class MessageHookContext extends HookContext implements MessageView {
  context: unknown = undefined;
  entered = 0;
  /** The tightest limit that a hook has set for an asynchronous handler. */
  limit: Allowed | undefined = undefined;
  /** The error of the handler itself, as opposed to an error of a wrapper around it. */
  thrown: { readonly error: unknown } | undefined = undefined;
  /** The handler was given up at its time limit and runs on: another try would run beside it. */
  isCutOff = false;
  readonly envelope: Envelope | undefined;

  constructor(cell: ActorCell, handler: number, payload: unknown, envelope: Envelope | undefined) {
    super(cell, handler, payload);
    this.envelope = envelope;
  }

  get now(): number {
    return this.cell.type.runtime.messageHooks.clock.now;
  }
  get coarseNow(): number {
    return this.cell.type.runtime.executor.coarseNow;
  }
  get from(): string | undefined {
    return (this.envelope?.sender as ActorCell | undefined)?.path;
  }
  get asked(): boolean {
    return this.envelope?.resolve !== undefined;
  }
  get remainingMs(): number {
    const deadline = this.envelope?.deadline ?? Number.POSITIVE_INFINITY;
    return deadline === Number.POSITIVE_INFINITY ? deadline : deadline - this.now;
  }
  get retryable(): boolean {
    return !this.isCutOff && (this.cell.type.spec.retryable?.includes(this.message) ?? false);
  }
  get retries(): number {
    return this.cell.type.runtime.messageHooks.retriesOf(this.envelope);
  }
}

/** One message on its way into a mailbox. The clock is read only if a hook asks. */
export class SendHookContext extends HookContext implements SendView, CrossingView {
  cause: unknown = undefined;
  armedBy: unknown = undefined;
  readonly sender: ActorCell | undefined;

  constructor(cell: ActorCell, handler: number, payload: unknown, sender: ActorCell | undefined) {
    super(cell, handler, payload);
    this.sender = sender;
  }

  get from(): string | undefined {
    return this.sender?.path;
  }
  get now(): number {
    return this.cell.type.runtime.host.now();
  }
}

/** One message with a context that has become a dead letter. */
export class DeadLetterHookContext extends HookContext implements DeadLetterView {
  readonly reason: DeadLetterReason;
  readonly context: unknown;

  constructor(cell: ActorCell, envelope: Envelope, reason: DeadLetterReason, context: unknown) {
    super(cell, envelope.handler, envelope.payload);
    this.reason = reason;
    this.context = context;
  }

  get now(): number {
    return this.cell.type.runtime.host.now();
  }
}

/**
 * The context of the message during which a timer was armed, laid out by the pipeline of the arming actor.
 */
export class TimerContext {
  private readonly pipeline: Pipeline;
  private readonly slot: unknown;

  constructor(pipeline: Pipeline, slot: unknown) {
    this.pipeline = pipeline;
    this.slot = slot;
  }

  contextFor(middleware: Middleware): unknown {
    return this.pipeline.contextOf(this.slot, middleware);
  }
}

/** One turn as hooks see it. */
export class TurnHookContext implements TurnView {
  endedAt: number;
  handled = 0;
  readonly depth: number;
  readonly startedAt: number;
  private readonly cell: ActorCell;

  constructor(cell: ActorCell, now: number) {
    this.cell = cell;
    this.depth = cell.queue.length;
    this.startedAt = now;
    this.endedAt = now;
  }

  get path(): string {
    return this.cell.path;
  }
  get actor(): string {
    return this.cell.type.name;
  }
}
