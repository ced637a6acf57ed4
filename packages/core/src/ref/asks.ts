import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import {
  ActorFailedError,
  AskCycleError,
  AskTimeoutError,
  OptionError,
  StaleContextError,
  UndeliveredError,
} from '../errors.js';
import { describeActivity } from '../inspect/describe-activity.js';
import { Envelope, enveloped } from '../message/envelope.js';
import { LaterReply, type ReplyPort } from '../message/later-reply.js';

/**
 * Questions with a deadline. An ask ends in exactly one of: a reply, the failure of the handler, a dead letter, or its
 * deadline; a reply after that reaches nobody.
 */
export class Asks implements ReplyPort {
  private readonly runtime: Parts<
    'deadLetters' | 'delivery' | 'diagnostics' | 'executor' | 'host' | 'invoker' | 'ready' | 'wheel'
  >;
  private readonly withinMs: number;
  /** The last ask of a handler that does not await yet: should it do so, this is what it waits for. */
  private latest: Envelope | undefined = undefined;
  private latestAt = Number.NaN;
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
      this.runtime.diagnostics.reportStaleContext(sender, 'ask');
      return Promise.reject(new StaleContextError(sender.path, 'ask'));
    }
    const cause = sender === undefined ? undefined : this.causeOf(sender);
    return this.start(sender, cause, target, handler, payload, withinMs ?? this.withinMs);
  }

  /** `ctx.tell`: like `tell`, in the name of that actor. */
  tellAs(sender: ActorCell, target: ActorCell, handler: number, payload: unknown): void {
    if (!sender.isCurrent) {
      this.runtime.diagnostics.reportStaleContext(sender, 'tell');
      this.runtime.deadLetters.undelivered(target, handler, payload, 'illegal');
      return;
    }
    const { ready, invoker } = this.runtime;
    const { running } = ready;
    const { envelope } = invoker;
    ready.running = sender.slot;
    invoker.envelope = this.causeOf(sender);
    target.type.delivery.tell(target, handler, payload);
    ready.running = running;
    invoker.envelope = envelope;
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

  /**
   * An actor has asked itself. If its handler goes on to await, the answer could never come: refused as soon as the
   * event loop has turned once without that handler having settled.
   */
  selfAsked(cell: ActorCell, envelope: Envelope): void {
    const awaiting = cell.cold?.awaiting;
    if (awaiting === undefined) return;
    awaiting.isPinned = true;
    this.runtime.host.later(() => {
      if (cell.cold?.awaiting === awaiting) this.refuse(envelope, new AskCycleError([cell.path, cell.path]));
    });
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
    // A function of its own: what only an actor's questions need would keep the rest from being compiled as one.
    if (sender !== undefined && this.closesCycle(envelope, sender, target, cause)) return promise;
    this.runtime.wheel.arm(envelope, envelope.deadline);
    target.type.delivery.tell(target, enveloped(handler), envelope);
    return promise;
  }

  /** Notes who waits for whom. True when nobody could ever answer: the question is refused. */
  private closesCycle(
    envelope: Envelope,
    sender: ActorCell,
    target: ActorCell,
    cause: Envelope | undefined,
  ): boolean {
    if (this.isCycle(sender, target, cause)) {
      this.refuse(envelope, new AskCycleError(this.pathOfCycle(sender, target, cause)));
      return true;
    }
    const awaiting = sender.cold?.awaiting;
    if (awaiting === undefined) {
      this.latest = envelope;
      this.latestAt = this.runtime.executor.coarseNow;
    } else {
      awaiting.asked = envelope;
    }
    if (target.isAwaiting) this.watchForCircle(envelope, sender, target);
    if (sender === target) target.signal({ kind: 'self-asked', envelope });
    return false;
  }

  /** Is the target itself waiting, directly or through others, for what the sender is doing now? */
  private isCycle(sender: ActorCell, target: ActorCell, cause: Envelope | undefined): boolean {
    if (!target.isAwaiting) return false;
    if (target === sender) return true;
    for (let call = cause; call !== undefined; call = call.cause) if (call.sender === target) return true;
    return false;
  }

  /** What this handler, which begins to await, has asked last and so waits for. */
  takeLatest(cell: ActorCell): Envelope | undefined {
    const { latest } = this;
    this.latest = undefined;
    // The clock stands still while a handler runs: what was asked at another time was asked by another one.
    return latest?.sender === cell && this.latestAt === this.runtime.executor.coarseNow ? latest : undefined;
  }

  /**
   * The target waits, directly or through others, for the sender, which handles something else. If the sender goes on to
   * await, neither can ever go on: refused when the event loop has turned once and all of them still wait.
   */
  private watchForCircle(envelope: Envelope, sender: ActorCell, target: ActorCell): void {
    if (target === sender || this.waitsFrom(target, sender) === undefined) return;
    this.runtime.host.later(() => {
      if (!isOpen(envelope) || sender.cold?.awaiting?.asked !== envelope) return;
      const waits = this.waitsFrom(target, sender);
      if (waits === undefined || !waits.every(isHeldUp)) return;
      const path = waits.map((asked) => (asked.target as ActorCell).path);
      this.refuse(envelope, new AskCycleError([target.path, ...path, target.path]));
    });
  }

  /** The questions that lead from one waiting actor to another: whom it waits for, whom that one waits for, and so on. */
  private waitsFrom(waiting: ActorCell, until: ActorCell): Envelope[] | undefined {
    const waits: Envelope[] = [];
    let cell = waiting;
    while (cell !== until) {
      const asked = cell.cold?.awaiting?.asked;
      // A circle that was closed elsewhere leads nowhere.
      if (asked === undefined || !isOpen(asked) || waits.includes(asked)) return undefined;
      waits.push(asked);
      cell = (asked.target as ActorCell).ref.cell;
    }
    return waits;
  }

  private pathOfCycle(sender: ActorCell, target: ActorCell, cause: Envelope | undefined): string[] {
    const path = [target.path, sender.path];
    for (let call = cause; call !== undefined && call.sender !== target; call = call.cause) {
      path.push((call.sender as ActorCell).path);
    }
    if (target !== sender) path.push(target.path);
    return path.reverse();
  }

  /** What an actor is handling: known to the invoker while it runs, to its awaiting record afterwards. */
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

function isOpen(envelope: Envelope): boolean {
  return envelope.resolve !== undefined;
}

/** Only its target itself can answer: it stands in its mailbox or is being handled. A reply for later may come from anywhere. */
function isHeldUp(envelope: Envelope): boolean {
  const { cell } = (envelope.target as ActorCell).ref;
  return cell.cold?.awaiting?.envelope === envelope || cell.queue.placeOf(envelope) >= 0;
}
