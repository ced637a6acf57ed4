import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { Delivery } from '../mailbox/delivery.js';
import { Envelope, enveloped } from '../message/envelope.js';
import { ArrivedContexts, type PackedContexts } from '../middleware/crossing-contexts.js';
import { RouterBase } from '../routing/router-class.js';
import { Backlogs } from './backlogs.js';
import { idOf } from './proxy/route.js';
import type { RemoteAsks } from './remote-asks.js';
import type { RemoteRefs } from './remote-refs.js';
import type { Early, Residents } from './residents.js';
import type { ActorAddress, RemoteTerms, Threads } from './threads.js';

/** Messages of other threads on their way to the actors of this one. */
export class Arrivals {
  readonly backlogs: Backlogs;
  private readonly runtime: Parts<
    'asks' | 'backPressure' | 'deadLetters' | 'executor' | 'ready' | 'sendHooks'
  >;
  private readonly threads: Threads;
  private readonly delivery: Delivery<ActorCell>;
  private readonly residents: Residents;
  private readonly asks: RemoteAsks;

  constructor(
    runtime: Arrivals['runtime'],
    threads: Threads,
    delivery: Delivery<ActorCell>,
    parts: { readonly residents: Residents; readonly asks: RemoteAsks; readonly refs: RemoteRefs },
  ) {
    this.runtime = runtime;
    this.threads = threads;
    this.delivery = delivery;
    this.residents = parts.residents;
    this.asks = parts.asks;
    this.backlogs = new Backlogs(
      runtime,
      threads,
      (cell) => parts.refs.refOf(cell),
      (from, cell, handler, payload, terms) => this.hand(from, cell, handler, payload, terms),
    );
  }

  told(
    from: number,
    home: number,
    slot: number,
    generation: number,
    handler: number,
    payload: unknown,
    contexts: PackedContexts | undefined,
  ): void {
    const cell = this.target(home, slot, generation);
    const terms = contexts === undefined ? undefined : { ask: undefined, contexts };
    if (cell !== undefined) return this.deliver(from, cell, handler, payload, terms);
    this.arriveEarly({ thread: home, slot, generation }, { from, handler, payload, terms });
  }

  asked(from: number, at: ActorAddress, handler: number, payload: unknown, terms: RemoteTerms): void {
    const cell = this.target(at.thread, at.slot, at.generation);
    if (cell !== undefined) return this.deliver(from, cell, handler, payload, terms);
    this.arriveEarly(at, { from, handler, payload, terms });
  }

  deliver(
    from: number,
    cell: ActorCell,
    handler: number,
    payload: unknown,
    terms: RemoteTerms | undefined,
  ): void {
    this.backlogs.deliver(from, cell, handler, payload, terms);
  }

  /** Messages for a resident that will not come. */
  refuseEarly(at: ActorAddress, messages: readonly Early[]): void {
    for (const early of messages) if (!('signal' in early)) this.refuse(at, early);
  }

  /** An actor of this thread: native, or a resident. */
  private target(home: number, slot: number, generation: number): ActorCell | undefined {
    if (home !== this.threads.self) return this.residents.find(home, slot, generation);
    return this.runtime.ready.slots.find(slot, generation);
  }

  private arriveEarly(at: ActorAddress, early: EarlyMessage): void {
    if (at.thread !== this.threads.self && this.residents.keepEarly(at, early)) return;
    this.refuse(at, early);
  }

  private refuse(at: ActorAddress, { from, handler, payload, terms }: EarlyMessage): void {
    const { deadLetters, asks } = this.runtime;
    const message = `message ${handler}`;
    deadLetters.unaddressed(idOf(at), message, payload);
    if (terms?.ask !== undefined)
      this.threads.refuse(from, terms.ask.number, asks.undeliveredTo(idOf(at), message));
  }

  private hand(
    from: number,
    cell: ActorCell,
    handler: number,
    payload: unknown,
    terms: RemoteTerms | undefined,
  ): void {
    const { ref } = cell;
    const contexts = terms?.contexts === undefined ? undefined : new ArrivedContexts(terms.contexts);
    if (ref instanceof RouterBase) this.handToRouter(from, ref, handler, payload, terms, contexts);
    else if (terms?.ask !== undefined)
      this.asks.asked(from, cell, handler, payload, terms.ask, (envelope) =>
        this.context(envelope, contexts),
      );
    else if (contexts !== undefined && cell.type.hasSendHook) this.tellWith(contexts, cell, handler, payload);
    else this.delivery.tell(cell, handler, payload);
  }

  private handToRouter(
    from: number,
    router: RouterBase,
    handler: number,
    payload: unknown,
    terms: RemoteTerms | undefined,
    contexts: ArrivedContexts | undefined,
  ): void {
    const pass = (): void => {
      if (terms?.ask !== undefined) this.asks.askRouter(from, router, handler, payload, terms.ask);
      else router.tellTo(router.targetsOf(handler, payload), handler, payload);
    };
    if (contexts === undefined) pass();
    else this.runtime.sendHooks.sendForArrival(contexts, pass);
  }

  private tellWith(contexts: ArrivedContexts, cell: ActorCell, handler: number, payload: unknown): void {
    const now = this.runtime.executor.coarseNow;
    const forever = Number.POSITIVE_INFINITY;
    const envelope = new Envelope(cell, handler, payload, undefined, undefined, forever, now);
    this.context(envelope, contexts);
    this.delivery.tell(cell, enveloped(handler), envelope);
  }

  /** The message has had its hooks of sends on the thread of its sender. */
  private context(envelope: Envelope, contexts: ArrivedContexts | undefined): void {
    const cell = envelope.target as ActorCell;
    if (contexts !== undefined && cell.type.hasSendHook)
      envelope.context = this.runtime.sendHooks.contextFor(cell, envelope, contexts);
  }
}

type EarlyMessage = Extract<Early, { readonly handler: number }>;
