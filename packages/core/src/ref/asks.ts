import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import {
  ActorFailedError,
  AskTimeoutError,
  OptionError,
  StaleContextError,
  UndeliveredError,
} from '../errors/error-classes.js';
import { describeActivity } from '../inspect/describe-activity.js';
import { Envelope, enveloped } from '../message/envelope.js';
import { LaterReply, type ReplyPort } from '../message/later-reply.js';

/**
 * Asks: messages with a reply and a deadline. An ask ends in exactly one of: a reply, the failure of the
 * handler, a dead letter, or its deadline; a later reply is dropped.
 */
export class Asks implements ReplyPort {
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
  private readonly onExpire = (envelope: Envelope): void => this.expired(envelope);

  constructor(runtime: Asks['runtime'], withinMs: number) {
    this.runtime = runtime;
    this.withinMs = withinMs;
  }

  /** `ref.ask`: attributed to the actor whose handler is running, if one is. */
  ask(target: ActorCell, handler: number, payload: unknown): Promise<unknown> {
    const sender = this.runtime.delivery.sender;
    const cause = sender === undefined ? undefined : this.runtime.invoker.envelope;
    return this.start(sender, cause, target, handler, payload, this.withinMs);
  }

  /** `ctx.ask` and `system.ask`. */
  askAs(
    sender: ActorCell | undefined,
    target: ActorCell,
    handler: number,
    payload: unknown,
    withinMs: number | undefined,
  ): Promise<unknown> {
    if (withinMs !== undefined && !(typeof withinMs === 'number' && withinMs > 0)) {
      return Promise.reject(new OptionError('withinMs', withinMs, 'needed a number above 0'));
    }
    if (sender !== undefined && !sender.isCurrent) {
      this.runtime.log.reportStaleContext(sender, 'ask');
      return Promise.reject(new StaleContextError(sender.path, 'ask'));
    }
    const cause = sender === undefined ? undefined : this.causeOf(sender);
    return this.start(sender, cause, target, handler, payload, withinMs ?? this.withinMs);
  }

  /** `ctx.tell`: like `tell`, in the name of that actor. */
  tellAs(sender: ActorCell, target: ActorCell, handler: number, payload: unknown): void {
    if (!sender.isCurrent) {
      this.runtime.log.reportStaleContext(sender, 'tell');
      this.runtime.deadLetters.undelivered(target, handler, payload, 'illegal');
      return;
    }
    const { ready, invoker } = this.runtime;
    const { running } = ready;
    const { envelope } = invoker;
    ready.isAfterAwait = running !== sender.slot;
    ready.running = sender.slot;
    invoker.envelope = this.causeOf(sender);
    target.type.delivery.tell(target, handler, payload);
    ready.running = running;
    ready.isAfterAwait = false;
    invoker.envelope = envelope;
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

  private start(
    sender: ActorCell | undefined,
    cause: Envelope | undefined,
    target: ActorCell,
    handler: number,
    payload: unknown,
    withinMs: number,
  ): Promise<unknown> {
    const now = this.runtime.executor.now();
    let deadline = now + withinMs;
    // A cause that has timed out leaves no time at all.
    if (cause !== undefined && cause.deadline < deadline) deadline = Math.max(cause.deadline, now);
    const envelope = new Envelope(target, handler, payload, sender, cause, deadline, now);
    envelope.onExpire = this.onExpire;
    const promise = new Promise<unknown>((resolve, reject) => {
      envelope.resolve = resolve;
      envelope.reject = reject;
    });
    // A function of its own: code for asks of actors only would keep the rest from being compiled as one.
    if (sender !== undefined) {
      if (this.runtime.waitCycles.askBegins(envelope, sender, target, cause)) return promise;
      this.runtime.waitGraph.begin(sender, envelope);
    }
    this.runtime.wheel.arm(envelope, envelope.deadline);
    target.type.delivery.tell(target, enveloped(handler), envelope);
    return promise;
  }

  /**
   * The envelope that an actor is handling: the invoker has it while the handler runs, its unsettled handler
   * afterwards.
   */
  private causeOf(sender: ActorCell): Envelope | undefined {
    const awaited = sender.cold?.awaiting?.envelope;
    return awaited ?? (this.runtime.delivery.sender === sender ? this.runtime.invoker.envelope : undefined);
  }

  private expired(envelope: Envelope): void {
    const target =
      envelope.target.slot === 0 ? undefined : ((envelope.target as ActorCell).ref.cell as ActorCell);
    const { reject, sentAt } = envelope;
    if (reject === undefined || target === undefined) return;
    const waited = this.runtime.host.now() - sentAt;
    const activity = describeActivity(target, this.runtime.host.now(), envelope);
    this.close(envelope);
    envelope.due = -1;
    reject(new AskTimeoutError(target.path, this.nameOf(target, envelope.handler), waited, activity));
  }

  private close(envelope: Envelope): void {
    this.runtime.wheel.cancel(envelope);
    envelope.resolve = undefined;
    envelope.reject = undefined;
    envelope.cause = undefined;
  }

  private nameOf(cell: ActorCell, handler: number): string {
    return cell.type.definition['~handlerNames'][handler] as string;
  }
}
