import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { Delivery } from '../mailbox/delivery.js';
import { type Cancellable, Cancellation } from '../message/cancellation.js';
import { Envelope, type EnvelopeOwner, enveloped } from '../message/envelope.js';
import { LaterReply } from '../message/later-reply.js';
import type { PackedContexts } from '../middleware/crossing-contexts.js';
import type { RouterBase } from '../routing/router-class.js';
import type { Route } from './proxy/route.js';
import type { RemoteAsk, RemoteRef, Threads } from './threads.js';

/** A longer chain is cut: a cycle through more threads than this ends by its deadline. */
const CHAIN_MAX = 16;
const ASK_MAX = 0x7fff_ffff;

/** An ask whose answer comes from another thread. It stands in the place of the envelope's owner. */
class ForwardedAsk implements EnvelopeOwner, Cancellable {
  readonly envelope: Envelope;
  readonly thread: number;
  readonly number: number;
  private readonly owner: EnvelopeOwner | undefined;
  private readonly onGivenUp: (ask: ForwardedAsk, reason: unknown) => void;

  constructor(
    envelope: Envelope,
    thread: number,
    number: number,
    owner: EnvelopeOwner | undefined,
    onGivenUp: ForwardedAsk['onGivenUp'],
  ) {
    this.envelope = envelope;
    this.thread = thread;
    this.number = number;
    this.owner = owner;
    this.onGivenUp = onGivenUp;
  }

  /** The other thread knows the deadline. */
  expired(envelope: Envelope): Error | undefined {
    return this.owner?.expired(envelope);
  }

  cancelled(envelope: Envelope, reason: unknown): void {
    this.owner?.cancelled(envelope, reason);
    this.onGivenUp(this, reason);
  }

  cancel(reason: unknown): readonly Cancellable[] {
    this.onGivenUp(this, reason);
    return [];
  }
}

/** Asks between threads: those of this thread that others answer, and those that are answered here. */
export class RemoteAsks {
  /** The result of a proxy's handler: the reply comes later. */
  readonly later: LaterReply<unknown>;
  private readonly runtime: Parts<'asks' | 'executor' | 'wheel'>;
  private readonly arrivals: Delivery<ActorCell>;
  private readonly threads: Threads;
  private readonly refs: {
    refOf(cell: ActorCell): RemoteRef;
    cellOf(ref: RemoteRef): ActorCell;
  };
  private readonly open = new Map<number, ForwardedAsk>();
  /** By asking thread and number. */
  private readonly answering = new Map<number, Map<number, Envelope>>();
  private last = 0;

  constructor(
    runtime: RemoteAsks['runtime'],
    threads: Threads,
    arrivals: Delivery<ActorCell>,
    refs: RemoteAsks['refs'],
  ) {
    this.runtime = runtime;
    this.threads = threads;
    this.arrivals = arrivals;
    this.refs = refs;
    this.later = new LaterReply(runtime.asks, undefined);
  }

  /** False when there is no room for more. */
  forward(route: Route, envelope: Envelope, contexts: PackedContexts | undefined): boolean {
    const number = this.nextNumber();
    const { owner } = envelope;
    const inner = owner instanceof Cancellation ? undefined : owner;
    const ask = new ForwardedAsk(envelope, route.runsOn, number, inner, this.givenUp);
    const terms = { number, leftMs: this.leftTo(envelope), chain: this.chainOf(envelope) };
    const { handler, payload } = envelope;
    const layout = route.layouts?.[handler];
    const hasRoom = this.threads.ask(route.runsOn, route.address, handler, payload, terms, contexts, layout);
    this.open.set(number, ask);
    if (owner instanceof Cancellation) owner.add(ask);
    else envelope.owner = ask;
    return hasRoom;
  }

  private nextNumber(): number {
    do this.last = this.last === ASK_MAX ? 1 : this.last + 1;
    while (this.open.has(this.last));
    return this.last;
  }

  private leftTo({ deadline }: Envelope): number {
    return Math.max(0, deadline - this.runtime.executor.now());
  }

  /** The askers that wait for this answer and can do nothing else. */
  private chainOf(envelope: Envelope): RemoteRef[] | undefined {
    let chain: RemoteRef[] | undefined;
    for (let call: Envelope | undefined = envelope; call !== undefined; call = call.cause) {
      const sender = call.sender as ActorCell | undefined;
      if (sender === undefined || (!sender.isAwaiting && sender.cold?.route === undefined)) break;
      chain ??= [];
      if (chain.push(this.refs.refOf(sender)) === CHAIN_MAX) break;
    }
    return chain;
  }

  private readonly givenUp = (ask: ForwardedAsk, reason: unknown): void => {
    if (this.open.get(ask.number) === ask)
      this.threads.signal(ask.thread, { kind: 'cancel', ask: ask.number, reason });
  };

  /** Every ask gets exactly one answer, also after its asker has given up: then it is dropped here. */
  replied(number: number, value: unknown): void {
    const envelope = this.take(number);
    if (envelope !== undefined) this.runtime.asks.reply(envelope, value);
  }

  refused(number: number, reason: unknown): void {
    const envelope = this.take(number);
    if (envelope !== undefined) this.runtime.asks.refuse(envelope, reason as Error);
  }

  private take(number: number): Envelope | undefined {
    const ask = this.open.get(number);
    this.open.delete(number);
    return ask?.envelope;
  }

  /** An ask of another thread. */
  asked(
    from: number,
    target: ActorCell,
    handler: number,
    payload: unknown,
    ask: RemoteAsk,
    onMade: (envelope: Envelope) => void,
  ): void {
    const now = this.runtime.executor.now();
    const [sender, cause] = this.callersOf(ask.chain, now);
    const envelope = new Envelope(target, handler, payload, sender, cause, now + ask.leftMs, now);
    const all = this.answeringFor(from);
    envelope.owner = this.runtime.asks;
    envelope.resolve = (value) => {
      all.delete(ask.number);
      this.answer(from, ask.number, value);
    };
    envelope.reject = (reason) => {
      all.delete(ask.number);
      this.threads.refuse(from, ask.number, reason);
    };
    all.set(ask.number, envelope);
    onMade(envelope);
    this.runtime.wheel.arm(envelope, envelope.deadline);
    this.arrivals.tell(target, enveloped(handler), envelope);
  }

  /** An ask of another thread of one of a router's actors. */
  askRouter(from: number, router: RouterBase, handler: number, payload: unknown, ask: RemoteAsk): void {
    const terms = { sender: undefined, options: { withinMs: Math.max(1, ask.leftMs) } };
    router.askFrom(terms, handler, payload).then(
      (value) => this.answer(from, ask.number, value),
      (reason) => this.threads.refuse(from, ask.number, reason),
    );
  }

  private answer(to: number, number: number, value: unknown): void {
    try {
      this.threads.reply(to, number, value);
    } catch (error) {
      this.threads.refuse(to, number, error);
    }
  }

  private answeringFor(thread: number): Map<number, Envelope> {
    const all = this.answering.get(thread) ?? new Map<number, Envelope>();
    this.answering.set(thread, all);
    return all;
  }

  /** The asker, and the envelopes that led to its ask, as this thread sees them. */
  private callersOf(
    chain: readonly RemoteRef[] | undefined,
    now: number,
  ): [ActorCell | undefined, Envelope | undefined] {
    if (chain === undefined) return [undefined, undefined];
    const [asker, ...others] = chain.map((ref) => this.refs.cellOf(ref));
    let cause: Envelope | undefined;
    for (const sender of others.reverse()) {
      cause = new Envelope(sender, 0, undefined, sender, cause, Number.POSITIVE_INFINITY, now);
      cause.resolve = () => undefined;
    }
    return [asker, cause];
  }

  cancelled(from: number, number: number, reason: unknown): void {
    const envelope = this.answering.get(from)?.get(number);
    if (envelope !== undefined) Cancellation.of(envelope)?.cancel(reason);
  }

  /** A thread has ended: its asks are not answered, and asks to it end with the reason. */
  threadEnded(thread: number, error: Error): void {
    const answering = [...(this.answering.get(thread)?.values() ?? [])];
    this.answering.delete(thread);
    for (const envelope of answering) {
      envelope.reject = () => undefined;
      Cancellation.of(envelope)?.cancel(error);
    }
    for (const { number } of [...this.open.values()].filter((ask) => ask.thread === thread))
      this.refused(number, error);
  }
}
