import type { ActorCell } from '../actor/actor-cell.js';
import type { RemotePlaces, RuntimeParts } from '../actor/runtime-parts.js';
import type { SuspensionToken } from '../define/actor-context.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import type { SpawnOptionsWithArgs } from '../define/spawn-options.js';
import { Delivery, type SendHook } from '../mailbox/delivery.js';
import type { PackedContexts } from '../middleware/crossing-contexts.js';
import type { AnyRef } from '../ref/actor-ref.js';
import { CellRef } from '../ref/cell-ref.js';
import type { StopReason } from '../runtime-event.js';
import { Arrivals } from './arrivals.js';
import { MONITOR_WORDS, type MonitoredType, ThreadMonitor } from './notes/thread-monitor.js';
import { WatchedThreads } from './notes/watched-threads.js';
import { PlacedProxies } from './proxy/placed-proxies.js';
import { PlacedRoute } from './proxy/placed-route.js';
import { ProxyDefinitions } from './proxy/proxy-definitions.js';
import { ProxyDelivery } from './proxy/proxy-delivery.js';
import { endActor, Route, type RouteParts } from './proxy/route.js';
import { RemoteAsks } from './remote-asks.js';
import { RemoteEvents } from './remote-events.js';
import { RemoteInspection } from './remote-inspection.js';
import { RemoteNames } from './remote-names.js';
import { RemoteRefs } from './remote-refs.js';
import { Residents } from './residents.js';
import type {
  ActorAddress,
  RemoteAsk,
  RemoteRef,
  RemoteSignal,
  RemoteTerms,
  SystemThreads,
  ThreadReceiver,
  ThreadSettings,
  Threads,
  UnreadMessage,
} from './threads.js';

/**
 * The actors of a system on its other threads (ADR 0118). Such an actor is stood for by a proxy, an ordinary
 * actor whose state is its route; so every verb works by the code for actors of this thread, and this part
 * only moves records.
 */
export class RemoteActors implements ThreadReceiver, RouteParts, RemotePlaces {
  readonly runtime: RuntimeParts;
  readonly threads: Threads;
  readonly asks: RemoteAsks;
  readonly delivery: ProxyDelivery;
  forwarded = 0;
  readonly idPrefix: string;
  private readonly arrivals: Arrivals;
  readonly residents: Residents;
  private readonly names: RemoteNames;
  private readonly events: RemoteEvents;
  readonly inspection: RemoteInspection;
  readonly refs: RemoteRefs;
  private readonly placed: PlacedProxies;
  private readonly watched: WatchedThreads;
  private readonly waitingForRoom = new Map<number, SuspensionToken[]>();

  constructor(runtime: RuntimeParts, threads: SystemThreads, settings: ThreadSettings) {
    const { ready, deadLetters, sendHooks, recorder } = runtime;
    const monitor = runtime.monitor ?? unwatched();
    this.runtime = runtime;
    this.delivery = new ProxyDelivery(ready, deadLetters, sendHooks, recorder, monitor);
    this.threads = threads.open(this, settings);
    this.idPrefix = this.threads.self === 0 ? '' : `${this.threads.self}:`;
    const definitions = new ProxyDefinitions();
    this.residents = new Residents(runtime, this.threads, this);
    this.refs = new RemoteRefs(this, this.residents, definitions);
    // Messages of other threads are counted where they are read.
    const delivery = new Delivery<ActorCell>(ready, deadLetters, arrivedHook(sendHooks), recorder);
    this.asks = new RemoteAsks(runtime, this.threads, delivery, this.refs);
    this.arrivals = new Arrivals(runtime, this.threads, delivery, this);
    this.placed = new PlacedProxies(this, definitions);
    this.names = new RemoteNames(this.threads, runtime);
    this.events = new RemoteEvents(runtime, this.threads);
    this.inspection = new RemoteInspection(runtime, this.threads, this.residents);
    this.watched = new WatchedThreads(runtime, this.threads, this.refs);
  }

  // Places.

  place(
    definition: AnyDefinition,
    options: SpawnOptionsWithArgs,
  ): { readonly definition: AnyDefinition; readonly options: SpawnOptionsWithArgs } | undefined {
    return this.placed.place(definition, options);
  }

  spawned(cell: ActorCell): void {
    this.placed.spawned(cell);
  }

  nameOf(thread: number): string {
    return this.threads.nameOf(thread);
  }

  threadOfRoutee(serial: number): string {
    return this.placed.threadOfRoutee(serial);
  }

  /** Proxies without a parent are no actors of this thread. */
  get proxies(): number {
    return this.refs.proxies;
  }

  // Names.

  refNamed(path: string): CellRef | undefined {
    const ref = this.names.find(path);
    return ref === undefined ? undefined : this.cellOf(ref).ref;
  }

  nameTaken(path: string, cell: ActorCell): void {
    this.names.announce(path, this.refOf(cell));
  }

  nameLeft(path: string): void {
    this.names.withdraw(path);
  }

  // Refs.

  isRef(value: object): boolean {
    return value instanceof CellRef;
  }

  exportRef(ref: AnyRef): RemoteRef {
    return this.refOf((ref as CellRef).cell);
  }

  refOf(cell: ActorCell): RemoteRef {
    return this.refs.refOf(cell);
  }

  importRef(ref: RemoteRef): AnyRef {
    return this.cellOf(ref).ref;
  }

  cellOf(ref: RemoteRef): ActorCell {
    return this.refs.cellOf(ref);
  }

  // Messages of other threads.

  told(
    from: number,
    home: number,
    slot: number,
    generation: number,
    handler: number,
    payload: unknown,
    contexts: PackedContexts | undefined,
  ): void {
    this.arrivals.told(from, home, slot, generation, handler, payload, contexts);
  }

  asked(
    from: number,
    at: ActorAddress,
    handler: number,
    payload: unknown,
    ask: RemoteAsk,
    contexts: PackedContexts | undefined,
  ): void {
    this.arrivals.asked(from, at, handler, payload, { ask, contexts });
  }

  /** A message to a route that leads to this thread: its actor was not here when the ref came. */
  toldHere(route: Route, handler: number, payload: unknown, contexts: PackedContexts | undefined): void {
    const { thread, slot, generation } = route.address;
    this.runtime.monitor?.accepted();
    this.arrivals.told(this.threads.self, thread, slot, generation, handler, payload, contexts);
  }

  deliver(
    from: number,
    cell: ActorCell,
    handler: number,
    payload: unknown,
    terms: RemoteTerms | undefined,
  ): void {
    this.arrivals.deliver(from, cell, handler, payload, terms);
  }

  replied(_from: number, ask: number, value: unknown): void {
    this.asks.replied(ask, value);
  }

  refused(_from: number, ask: number, reason: unknown): void {
    this.asks.refused(ask, reason);
  }

  // Room.

  waitForRoom(thread: number, token: SuspensionToken): void {
    const waiting = this.waitingForRoom.get(thread) ?? [];
    waiting.push(token);
    this.waitingForRoom.set(thread, waiting);
  }

  roomAgain(thread: number): void {
    const waiting = this.waitingForRoom.get(thread);
    if (waiting === undefined) return;
    this.waitingForRoom.delete(thread);
    for (const token of waiting) token.resume();
  }

  // Signals.

  signal(thread: number, signal: RemoteSignal): void {
    if (thread === this.threads.self) this.signalled(thread, signal);
    else this.threads.signal(thread, signal);
  }

  signalled(from: number, signal: RemoteSignal): void {
    switch (signal.kind) {
      case 'spawn':
        return this.residents.spawn(from, signal);
      case 'import':
        return this.refs.imported(from, signal.at);
      case 'cancel':
        return this.asks.cancelled(from, signal.ask, signal.reason);
      case 'ended':
        return this.actorEnded(signal.at, signal.reason);
      case 'named':
        return this.names.taken(signal.path, signal.ref);
      case 'unnamed':
        return this.names.left(signal.path);
      case 'type':
        return this.watched.typeAnnounced(from, signal.number, signal);
      case 'inspect':
        return this.inspection.asked(from, signal.number, signal.options);
      case 'inspected':
        return this.inspection.answered(from, signal.number, signal.views);
      case 'listen':
        return this.events.report();
      case 'event':
        return this.events.received(signal.event);
      default:
        return this.handle(from, signal);
    }
  }

  /** A signal about one actor of this thread, or about its proxy. */
  handle(from: number, signal: RemoteSignal): void {
    if (!('at' in signal)) return;
    const { at } = signal;
    const cell = this.refs.find(at);
    if (cell === undefined) {
      if (at.thread !== this.threads.self) this.residents.keepEarly(at, { from, signal });
      return;
    }
    const route = cell.cold?.route;
    if (route instanceof Route) this.handleForProxy(cell, route, signal);
    else this.residents.handle(from, cell, signal);
  }

  private handleForProxy(cell: ActorCell, route: Route, signal: RemoteSignal): void {
    if (signal.kind === 'pause') route.pause(cell);
    else if (signal.kind === 'unpause') route.unpause();
    else if (signal.kind === 'end') endActor(cell, signal.how);
    else if (route instanceof PlacedRoute) route.handle(cell, signal);
  }

  /** The home reports the end: of an actor with a ref here, or of the proxy of a resident. */
  private actorEnded(at: ActorAddress, reason: StopReason): void {
    this.refs.ended(at, reason);
    this.arrivals.refuseEarly(at, this.residents.forget(at));
  }

  // This thread and others.

  publishing(messages: number, ring: number, tail: number): void {
    this.runtime.monitor?.publishing(messages, ring, tail);
  }

  published(messages: number): void {
    this.runtime.monitor?.published(messages);
  }

  dropped(messages: number): void {
    this.runtime.monitor?.dropped(messages);
  }

  releasing(ring: number, head: number): void {
    this.runtime.monitor?.releasing(ring, head, this.waiting, this.allDeadLetters);
  }

  released(): void {
    this.runtime.monitor?.released();
  }

  looked(): void {
    this.runtime.monitor?.looked(this.waiting, this.allDeadLetters);
  }

  private get allDeadLetters(): number {
    return this.runtime.deadLetters.total + this.watched.deadLetters;
  }

  private get waiting(): number {
    const { ready, stashes } = this.runtime;
    return ready.queued + ready.inlineMessages + stashes.held + this.keptBack + this.residents.early;
  }

  /** Messages in front of full mailboxes. */
  get keptBack(): number {
    return this.arrivals.backlogs.size;
  }

  /** Dead letters of threads that have ended; on the main thread those of all other threads. */
  get deadLetters(): number {
    return this.watched.deadLetters;
  }

  get isBusy(): boolean {
    return this.runtime.ready.awake;
  }

  announceType(number: number, type: MonitoredType): void {
    this.watched.announceType(number, type);
  }

  messageOn(thread: number): { readonly path: string; readonly message: string } | undefined {
    return this.watched.messageOn(thread);
  }

  blocked(thread: number, ms: number): void {
    this.watched.blocked(thread, ms);
  }

  threadEnded(
    thread: number,
    error: Error,
    unread: readonly UnreadMessage[],
    notes: Int32Array | undefined,
  ): void {
    this.watched.threadEnded(thread, unread, notes);
    this.inspection.threadEnded(thread);
    this.asks.threadEnded(thread, error);
    this.placed.threadEnded(thread, error);
    this.refs.threadEnded(thread);
    for (const { at, early } of this.residents.threadEnded(thread)) this.arrivals.refuseEarly(at, early);
    this.arrivals.backlogs.threadEnded(thread);
    this.roomAgain(thread);
    this.names.threadEnded(thread);
    this.events.threadEnded(thread);
  }

  lostBetween(messages: number): void {
    this.watched.lostBetween(messages);
  }

  report(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.runtime.log.write('error', message, fields);
  }

  close(): Promise<void> | undefined {
    return this.threads.close();
  }
}

/** A message that came with its contexts has had its hooks on the thread of its sender. */
function arrivedHook(sendHooks: SendHook<ActorCell>): SendHook<ActorCell> {
  return { contextFor: (cell, envelope) => envelope.context ?? sendHooks.contextFor(cell, envelope) };
}

/** No thread watches the main one: its notes are read by no one. */
function unwatched(): ThreadMonitor {
  return new ThreadMonitor(new Int32Array(MONITOR_WORDS), 0, () => undefined);
}
