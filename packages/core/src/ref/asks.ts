import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import {
  ActorFailedError,
  AskTimeoutError,
  StaleContextError,
  UndeliveredError,
} from '../errors/error-classes.js';
import { toError } from '../errors/thrown-value.js';
import { describeActivity } from '../inspect/describe-activity.js';
import type { Delivered } from '../mailbox/delivery.js';
import { Cancellation } from '../message/cancellation.js';
import { Envelope, type EnvelopeOwner, enveloped } from '../message/envelope.js';
import { LaterReply, type ReplyPort } from '../message/later-reply.js';
import { cancelOnAbort } from './abort-listeners.js';
import type { AskOptions } from './actor-ref.js';
import { checkCallOptions } from './call-options.js';

/**
 * Asks: messages with a reply and a deadline. An ask ends in exactly one of: a reply, the failure of the
 * handler, a dead letter, its deadline, or the abort of its asker; a later reply is dropped.
 */
export class Asks implements ReplyPort, EnvelopeOwner {
  private readonly runtime: Parts<
    | 'deadLetters'
    | 'delivery'
    | 'log'
    | 'executor'
    | 'host'
    | 'invoker'
    | 'ready'
    | 'unreturned'
    | 'waitCycles'
    | 'waitGraph'
    | 'wheel'
  >;
  private readonly withinMs: number;

  constructor(runtime: Asks['runtime'], withinMs: number) {
    this.runtime = runtime;
    this.withinMs = withinMs;
  }

  /** `ref.ask`: attributed to the actor whose handler is running, if one is. */
  ask(target: ActorCell, handler: number, payload: unknown): Promise<unknown> {
    const sender = this.runtime.delivery.sender;
    const cause = sender === undefined ? undefined : this.runtime.invoker.envelope;
    return this.start(sender, cause, target, handler, payload, this.withinMs, undefined);
  }

  /** `ctx.ask`, `system.ask` and `ref.with(…).ask`. */
  askAs(
    sender: ActorCell | undefined,
    target: ActorCell,
    handler: number,
    payload: unknown,
    options: AskOptions | undefined,
  ): Promise<unknown> {
    if (options !== undefined || sender?.isCurrent === false) {
      const refusal = this.refusalOf('ask', sender, options);
      if (refusal !== undefined) return Promise.reject(refusal.reason);
    }
    const signal = options?.signal;
    const cause = sender === undefined ? undefined : this.messageOf(sender);
    const withinMs = options?.withinMs ?? this.withinMs;
    const { ready } = this.runtime;
    const { running } = ready;
    if (sender === undefined || running === sender.slot)
      return this.start(sender, cause, target, handler, payload, withinMs, signal);
    // After an `await`: the ask counts as sent by that actor, which may be muted for it.
    ready.isAfterAwait = true;
    ready.running = sender.slot;
    const reply = this.start(sender, cause, target, handler, payload, withinMs, signal);
    ready.running = running;
    ready.isAfterAwait = false;
    return reply;
  }

  /** `ctx.tell`: like `tell`, in the name of that actor. */
  tellAs(sender: ActorCell, target: ActorCell, handler: number, payload: unknown): void {
    if (!sender.isCurrent) {
      this.runtime.log.reportStaleContext(sender, 'tell');
      this.runtime.deadLetters.undelivered(target, handler, payload, 'illegal');
      return;
    }
    this.deliverAs('tell', sender, target, handler, payload);
  }

  /** `ctx.offer`: like `offer`, in the name of that actor. */
  offerAs(sender: ActorCell, target: ActorCell, handler: number, payload: unknown): Delivered {
    this.checkMayCall(sender, 'offer');
    return this.deliverAs('offer', sender, target, handler, payload);
  }

  private deliverAs(
    verb: 'tell' | 'offer',
    sender: ActorCell,
    target: ActorCell,
    handler: number,
    payload: unknown,
  ): Delivered {
    const { ready, invoker } = this.runtime;
    const { running } = ready;
    const { envelope } = invoker;
    ready.isAfterAwait = running !== sender.slot;
    ready.running = sender.slot;
    invoker.envelope = this.messageOf(sender);
    let outcome: Delivered = 'accepted';
    if (verb === 'offer') outcome = target.type.delivery.offer(target, handler, payload);
    else target.type.delivery.tell(target, handler, payload);
    ready.running = running;
    ready.isAfterAwait = false;
    invoker.envelope = envelope;
    return outcome;
  }

  /** Why an ask or a send is not begun: a wrong option, a context that has ended, a signal that has fired. */
  refusalOf(
    verb: 'ask' | 'send',
    sender: ActorCell | undefined,
    options: AskOptions | undefined,
  ): { readonly reason: unknown } | undefined {
    try {
      checkCallOptions(verb, options);
      if (sender !== undefined) this.checkMayCall(sender, verb);
      options?.signal?.throwIfAborted();
      return undefined;
    } catch (reason) {
      return { reason };
    }
  }

  /** Throws for an actor whose context has ended. */
  private checkMayCall(sender: ActorCell, verb: string): void {
    if (sender.isCurrent) return;
    this.runtime.log.reportStaleContext(sender, verb);
    throw new StaleContextError(sender.path, verb);
  }

  replied(value: unknown): void {
    if (this.runtime.unreturned.count !== 0) this.runtime.unreturned.returned(value);
  }

  reply(envelope: Envelope, value: unknown): void {
    const { resolve } = envelope;
    if (resolve === undefined) return;
    this.close(envelope);
    resolve(value);
  }

  /** The value that a handler returned: the reply, or a promise to reply later. */
  answer(envelope: Envelope, value: unknown): void {
    if (LaterReply.is(value)) value.bind(envelope);
    else this.reply(envelope, value);
  }

  refuse(envelope: Envelope, error: Error): void {
    const { reject } = envelope;
    if (reject === undefined) return;
    this.close(envelope);
    reject(error);
  }

  /**
   * An asynchronous handler has ended with an error. True when its asker has given up and the error says no
   * more than that: then it has not failed.
   */
  hasEndedByAbort(envelope: Envelope | undefined, thrown: unknown): boolean {
    if (envelope === undefined || Cancellation.in(envelope)?.isEndedBy(thrown) !== true) return false;
    this.refuse(envelope, toError(thrown));
    return true;
  }

  failed(envelope: Envelope, error: Error): void {
    const target = envelope.target as ActorCell;
    if (envelope.reject === undefined) return;
    this.refuse(envelope, new ActorFailedError(target.path, this.nameOf(target, envelope.handler), error));
  }

  undelivered(envelope: Envelope, reason: string): void {
    const target = envelope.target as ActorCell;
    if (envelope.reject === undefined) return;
    this.refuse(envelope, new UndeliveredError(target.path, this.nameOf(target, envelope.handler), reason));
  }

  /** For an ask whose target has left no name here. */
  undeliveredTo(path: string, message: string): UndeliveredError {
    return new UndeliveredError(path, message, 'stopped');
  }

  private start(
    sender: ActorCell | undefined,
    cause: Envelope | undefined,
    target: ActorCell,
    handler: number,
    payload: unknown,
    withinMs: number,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const now = this.runtime.executor.now();
    let deadline = now + withinMs;
    // A cause that has timed out leaves no time at all.
    if (cause !== undefined && cause.deadline < deadline) deadline = Math.max(cause.deadline, now);
    const envelope = new Envelope(target, handler, payload, sender, cause, deadline, now);
    envelope.owner = this;
    const promise = new Promise<unknown>((resolve, reject) => {
      envelope.resolve = resolve;
      envelope.reject = reject;
    });
    // Functions of their own: code for asks of actors only would keep the rest from being compiled as one.
    if (cause !== undefined && cause.owner !== this && this.isCancelledWith(cause, envelope)) return promise;
    if (sender !== undefined) {
      if (this.runtime.waitCycles.askBegins(envelope, sender, target, cause)) return promise;
      this.runtime.waitGraph.begin(sender, envelope);
    }
    if (signal !== undefined) this.cancelOn(signal, envelope);
    this.runtime.wheel.arm(envelope, envelope.deadline);
    target.type.delivery.tell(target, enveloped(handler), envelope);
    return promise;
  }

  /**
   * The envelope that an actor is handling: the invoker has it while the handler runs, its unsettled handler
   * afterwards.
   */
  messageOf(cell: ActorCell): Envelope | undefined {
    const awaited = cell.cold?.awaiting?.envelope;
    return awaited ?? (this.runtime.delivery.sender === cell ? this.runtime.invoker.envelope : undefined);
  }

  /** The signal of an ask, for its handler and for the holder of its later reply. */
  signalOf(envelope: Envelope): AbortSignal {
    return (envelope.target as ActorCell).ref.cell.ensureHandlerSignals().signalOf(this.askedBy(envelope));
  }

  /** The cancellable side of a message. Undefined where no reply is awaited, or was given already. */
  askedBy(envelope: Envelope): Cancellation | undefined {
    const hasExpired = envelope.deadline < 0;
    if (envelope.resolve === undefined && !hasExpired) return undefined;
    const asked = Cancellation.of(envelope);
    if (hasExpired && asked?.aborted === undefined) asked?.abort(this.timeoutOf(envelope));
    return asked;
  }

  expired(envelope: Envelope): Error | undefined {
    const { reject } = envelope;
    if (reject === undefined) return undefined;
    const error = this.timeoutOf(envelope);
    this.close(envelope);
    envelope.due = -1;
    reject(error);
    return error;
  }

  cancelled(envelope: Envelope, reason: unknown): void {
    const { reject } = envelope;
    this.close(envelope);
    envelope.due = -1;
    reject?.(reason);
  }

  timeoutOf(envelope: Envelope): AskTimeoutError {
    const target = (envelope.target as ActorCell).ref.cell;
    const now = this.runtime.host.now();
    const activity = describeActivity(target, now, envelope);
    const message = this.nameOf(target, envelope.handler);
    return new AskTimeoutError(target.path, message, now - envelope.sentAt, activity);
  }

  private cancelOn(signal: AbortSignal, envelope: Envelope): void {
    const asked = Cancellation.of(envelope) as Cancellation;
    asked.joined(cancelOnAbort(signal, asked));
  }

  /** An ask of a handler whose own ask can be cancelled: true when that has been. */
  private isCancelledWith(cause: Envelope, envelope: Envelope): boolean {
    const asked = Cancellation.in(cause);
    if (asked?.isCancelled === true) {
      this.cancelled(envelope, asked.aborted?.reason);
      return true;
    }
    if (asked?.isOver === false) Cancellation.of(envelope);
    return false;
  }

  private close(envelope: Envelope): void {
    this.runtime.wheel.cancel(envelope);
    envelope.resolve = undefined;
    envelope.reject = undefined;
    envelope.cause = undefined;
    if (envelope.owner !== this) Cancellation.in(envelope)?.finish();
  }

  private nameOf(cell: ActorCell, handler: number): string {
    return cell.type.definition['~handlerNames'][handler] as string;
  }
}
