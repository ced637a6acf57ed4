import type { ActorCell } from '../actor/actor-cell.js';
import type { RemotePlaces, RuntimeParts } from '../actor/runtime-parts.js';
import type { SuspensionToken } from '../define/actor-context.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import type { SpawnOptionsWithArgs } from '../define/spawn-options.js';
import { OptionError } from '../errors/error-classes.js';
import type { AnyRef } from '../ref/actor-ref.js';
import { CellRef } from '../ref/cell-ref.js';
import { RouterBase } from '../routing/router-class.js';
import type { StopReason } from '../runtime-event.js';
import { ProxyDefinitions, remoteOf } from './proxy-definitions.js';
import { ProxyDelivery } from './proxy-delivery.js';
import { RemoteAsks } from './remote-asks.js';
import { RemoteEvents } from './remote-events.js';
import { RemoteNames } from './remote-names.js';
import { Residents } from './residents.js';
import { ImportedRoute, idOf, PlacedRoute, Route, type RouteParts } from './route.js';
import type {
  ActorAddress,
  RemoteAsk,
  RemoteRef,
  RemoteSignal,
  SystemThreads,
  ThreadReceiver,
  ThreadSettings,
  Threads,
  UnreadMessage,
} from './threads.js';

/** The proxy of a ref that came from another thread. */
interface ImportedProxy {
  readonly ref: CellRef;
  readonly route: ImportedRoute;
}

/** A message that waits for room. */
interface KeptMessage {
  readonly from: number;
  readonly handler: number;
  readonly payload: unknown;
  readonly ask: RemoteAsk | undefined;
}

/** Messages of other threads in front of a full mailbox, and the threads that were paused for it. */
class Backlog {
  readonly messages: KeptMessage[] = [];
  readonly paused = new Set<number>();
}

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
  /** Messages that a thread took along when it ended. */
  lost = 0;
  private readonly residents: Residents;
  private readonly names: RemoteNames;
  private readonly events: RemoteEvents;
  private readonly definitions = new ProxyDefinitions();
  /** Proxies without a parent, by home and slot. */
  private readonly imports = new Map<number, Map<number, ImportedProxy>>();
  private readonly placed = new Set<CellRef>();
  private readonly waitingForRoom = new Map<number, SuspensionToken[]>();
  /** Threads that have a ref, by the slot of the actor. */
  private readonly importers = new Map<CellRef, Set<number>>();
  /** By the actor whose mailbox is full. */
  private readonly backlogs = new Map<CellRef, Backlog>();

  constructor(runtime: RuntimeParts, threads: SystemThreads, settings: ThreadSettings) {
    const { ready, deadLetters, sendHooks, recorder } = runtime;
    this.runtime = runtime;
    this.delivery = new ProxyDelivery(ready, deadLetters, sendHooks, recorder);
    this.threads = threads.open(this, settings);
    this.idPrefix = this.threads.self === 0 ? '' : `${this.threads.self}:`;
    this.asks = new RemoteAsks(runtime, this.threads, this);
    this.residents = new Residents(runtime, this.threads, this);
    this.names = new RemoteNames(this.threads, runtime);
    this.events = new RemoteEvents(runtime, this.threads);
  }

  // Spawning.

  /** Definition and options of the proxy of an actor that is to run elsewhere; undefined for one here. */
  place(
    definition: AnyDefinition,
    options: SpawnOptionsWithArgs,
  ): { readonly definition: AnyDefinition; readonly options: SpawnOptionsWithArgs } | undefined {
    const { on, args, supervise, middleware, ...rest } = options;
    const thread = this.threads.place(on as string);
    if (thread === this.threads.self) return undefined;
    if (middleware !== undefined)
      throw new OptionError('spawn.middleware', middleware, 'needed no middleware: functions do not cross');
    const remote = remoteOf(definition);
    this.threads.checkPlaceable(remote);
    const route = new PlacedRoute(this, remote, thread, this.threads.pack({ args, supervise }));
    return { definition: this.definitions.placedOf(definition), options: { ...rest, args: route } };
  }

  /** The proxy was spawned. */
  spawned(cell: ActorCell): void {
    const { ref } = cell;
    cell.ensureCold().route = cell.args as Route;
    this.placed.add(ref);
    this.watchPlaced(ref);
  }

  private watchPlaced(ref: CellRef): void {
    ref.cell.ensureCold().onStopped.push(() => {
      if (ref.cell.isTerminated) this.placed.delete(ref);
      else this.watchPlaced(ref);
    });
  }

  /** Proxies without a parent are no actors of this thread. */
  get proxies(): number {
    let proxies = 0;
    for (const bySlot of this.imports.values()) proxies += bySlot.size;
    return proxies;
  }

  nameOf(thread: number): string {
    return this.threads.nameOf(thread);
  }

  threadOfRoutee(serial: number): string {
    const { self, others } = this.threads;
    const all = [self, ...others].filter((thread) => thread !== 0).sort((a, b) => a - b);
    return this.threads.nameOf(all[serial % all.length] as number);
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
    const { self } = this.threads;
    // A proxy gets its name before its route.
    const route = cell.cold?.route ?? (cell.args instanceof Route ? cell.args : undefined);
    const own = { thread: self, slot: cell.slot, generation: cell.generation };
    const address = cell.cold?.home?.address ?? (cell.isTerminated ? own : (route?.address ?? own));
    const represented = cell.type.definition['~represents'];
    const { thread, slot, generation } = address.thread < 0 ? own : address;
    const definition =
      represented === undefined ? remoteOf(cell.type.definition) : { ...represented, definition: undefined };
    return { thread, slot, generation, runsOn: route?.runsOn ?? self, path: cell.path, definition };
  }

  importRef(ref: RemoteRef): AnyRef {
    return this.cellOf(ref).ref;
  }

  cellOf(ref: RemoteRef): ActorCell {
    const found = this.find(ref.thread, ref.slot, ref.generation);
    return found ?? this.importProxy(ref);
  }

  /** The actor itself, or its proxy. */
  private find(home: number, slot: number, generation: number): ActorCell | undefined {
    if (home === this.threads.self) return this.runtime.ready.slots.find(slot, generation);
    const resident = this.residents.find(home, slot, generation);
    if (resident !== undefined) return resident;
    const proxy = this.imports.get(home)?.get(slot);
    return proxy?.route.address.generation === generation ? proxy.ref.cell : undefined;
  }

  private importProxy(ref: RemoteRef): ActorCell {
    const { thread, slot, generation, runsOn, path } = ref;
    const address = { thread, slot, generation };
    const definition = this.definitions.importedOf(ref.definition);
    const route = new ImportedRoute(this, definition['~represents'] ?? ref.definition, runsOn, address, path);
    const cell = this.runtime.spawner.spawnProxy(definition, route);
    if (thread === this.threads.self) {
      route.ended(cell.ref, 'stopped');
      return cell;
    }
    const bySlot = this.imports.get(thread) ?? new Map<number, ImportedProxy>();
    this.imports.set(thread, bySlot.set(slot, { ref: cell.ref, route }));
    cell.ensureCold().onStopped.push(() => {
      if (bySlot.get(slot)?.ref === cell.ref) bySlot.delete(slot);
    });
    route.opened(cell);
    return cell;
  }

  // Messages of other threads.

  told(
    from: number,
    home: number,
    slot: number,
    generation: number,
    handler: number,
    payload: unknown,
  ): void {
    const cell = this.target(home, slot, generation);
    if (cell !== undefined) return this.deliver(from, cell, handler, payload, undefined);
    const at = { thread: home, slot, generation };
    if (this.isEarly(at, { from, handler, payload })) return;
    this.runtime.deadLetters.unaddressed(idOf(at), `message ${handler}`, payload);
  }

  asked(from: number, at: ActorAddress, handler: number, payload: unknown, ask: RemoteAsk): void {
    const cell = this.target(at.thread, at.slot, at.generation);
    if (cell !== undefined) return this.deliver(from, cell, handler, payload, ask);
    if (this.isEarly(at, { from, handler, payload, ask })) return;
    this.runtime.deadLetters.unaddressed(idOf(at), `message ${handler}`, payload);
    this.threads.refuse(from, ask.number, this.runtime.asks.undeliveredTo(idOf(at), `message ${handler}`));
  }

  /** A message to a route that leads to this thread: its actor was not here when the ref came. */
  toldHere(route: Route, handler: number, payload: unknown): void {
    const { thread, slot, generation } = route.address;
    this.told(this.threads.self, thread, slot, generation, handler, payload);
  }

  /** An actor of this thread: native, or a resident. */
  private target(home: number, slot: number, generation: number): ActorCell | undefined {
    if (home !== this.threads.self) return this.residents.find(home, slot, generation);
    return this.runtime.ready.slots.find(slot, generation);
  }

  private isEarly(at: ActorAddress, early: Parameters<Residents['keepEarly']>[1]): boolean {
    return at.thread !== this.threads.self && this.residents.keepEarly(at, early);
  }

  /** A full mailbox that mutes its senders takes no more: what is on its way waits in front of it. */
  deliver(
    from: number,
    cell: ActorCell,
    handler: number,
    payload: unknown,
    ask: RemoteAsk | undefined,
  ): void {
    const backlog = this.backlogs.size === 0 ? undefined : this.backlogs.get(cell.ref);
    if (backlog !== undefined) this.keepBack(backlog, cell, { from, handler, payload, ask });
    else if (cell.isFull && cell.type.overflow === 'mute-sender' && !cell.isClosed)
      this.keepBack(this.openBacklog(cell), cell, { from, handler, payload, ask });
    else this.hand(from, cell, handler, payload, ask);
  }

  private hand(
    from: number,
    cell: ActorCell,
    handler: number,
    payload: unknown,
    ask: RemoteAsk | undefined,
  ): void {
    if (ask !== undefined) this.asks.asked(from, cell, handler, payload, ask);
    else if (cell.ref instanceof RouterBase)
      cell.ref.tellTo(cell.ref.targetsOf(handler, payload), handler, payload);
    else this.runtime.delivery.tell(cell, handler, payload);
  }

  private openBacklog(cell: ActorCell): Backlog {
    const backlog = new Backlog();
    this.backlogs.set(cell.ref, backlog);
    this.awaitRoom(cell.ref, backlog);
    return backlog;
  }

  private awaitRoom(ref: CellRef, backlog: Backlog): void {
    this.runtime.backPressure.waitForRoom(ref.cell, () => this.handBacklog(ref, backlog));
  }

  /** When as many wait as the mailbox holds, the proxies of the sending threads wait until half are left. */
  private keepBack(backlog: Backlog, cell: ActorCell, message: KeptMessage): void {
    backlog.messages.push(message);
    const { from } = message;
    if (backlog.messages.length < cell.type.capacity) return;
    if (backlog.paused.has(from) || from === this.threads.self) return;
    backlog.paused.add(from);
    this.threads.signal(from, { kind: 'pause', at: this.refOf(cell) });
  }

  private handBacklog(ref: CellRef, backlog: Backlog): void {
    const { messages } = backlog;
    let handed = 0;
    for (; handed < messages.length && (!ref.cell.isFull || ref.cell.isClosed); handed += 1) {
      const { from, handler, payload, ask } = messages[handed] as KeptMessage;
      this.hand(from, ref.cell, handler, payload, ask);
    }
    messages.splice(0, handed);
    if (messages.length <= ref.cell.type.lowWater) this.unpause(ref, backlog);
    if (messages.length > 0) this.awaitRoom(ref, backlog);
    else this.backlogs.delete(ref);
  }

  private unpause(ref: CellRef, { paused }: Backlog): void {
    if (paused.size === 0) return;
    const at = this.refOf(ref.cell);
    for (const thread of paused) this.threads.signal(thread, { kind: 'unpause', at });
    paused.clear();
  }

  /** Messages in front of full mailboxes. */
  get keptBack(): number {
    let kept = 0;
    for (const { messages } of this.backlogs.values()) kept += messages.length;
    return kept;
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
        return this.imported(from, signal.at);
      case 'cancel':
        return this.asks.cancelled(from, signal.ask, signal.reason);
      case 'ended':
        return this.actorEnded(signal.at, signal.reason);
      case 'named':
        return this.names.taken(signal.path, signal.ref);
      case 'unnamed':
        return this.names.left(signal.path);
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
    const cell = this.find(at.thread, at.slot, at.generation);
    if (cell === undefined) {
      if (at.thread !== this.threads.self) this.residents.keepEarly(at, { from, signal });
      return;
    }
    const route = cell.cold?.route;
    if (route instanceof Route) this.handleForProxy(cell, route, signal);
    else this.handleForActor(from, cell, signal);
  }

  private handleForProxy(cell: ActorCell, route: Route, signal: RemoteSignal): void {
    if (signal.kind === 'pause') route.pause(cell);
    else if (signal.kind === 'unpause') route.unpause();
    else if (signal.kind === 'end') endActor(cell, signal.how);
    else if (route instanceof PlacedRoute) this.handleForPlaced(cell, route, signal);
  }

  private handleForPlaced(cell: ActorCell, route: PlacedRoute, signal: RemoteSignal): void {
    if (signal.kind === 'failed')
      route.failed(cell, signal.error, signal.message, signal.unresumable, signal.isFinal);
    else if (signal.kind === 'rested') route.rested();
    else if (signal.kind === 'stopped') route.ended(cell.ref, signal.reason);
  }

  private handleForActor(from: number, cell: ActorCell, signal: RemoteSignal): void {
    switch (signal.kind) {
      case 'resume':
        return this.residents.resume(cell);
      case 'rest':
        return this.residents.rest(from, cell, signal.at, signal.error);
      case 'replace':
        return cell.putSignal({ kind: 'replace' });
      case 'end':
        return endActor(cell, signal.how);
      case 'suspend':
        return this.residents.suspend(from, cell, signal.token, signal.reason);
      case 'unsuspend':
        return this.residents.unsuspend(from, signal.token);
      default:
        return undefined;
    }
  }

  /** Another thread has a ref to an actor that has its home here. */
  private imported(from: number, at: ActorAddress): void {
    const cell = this.runtime.ready.slots.find(at.slot, at.generation);
    if (cell === undefined || cell.isTerminated) {
      this.signal(from, { kind: 'ended', at, reason: cell?.stopReason ?? 'stopped' });
      return;
    }
    const threads = this.importers.get(cell.ref);
    if (threads !== undefined) {
      threads.add(from);
      return;
    }
    this.importers.set(cell.ref, new Set([from]));
    this.watchExported(cell.ref, at);
  }

  private watchExported(ref: CellRef, at: ActorAddress): void {
    ref.cell.ensureCold().onStopped.push((reason) => {
      if (!ref.cell.isTerminated) return this.watchExported(ref, at);
      const threads = this.importers.get(ref) ?? [];
      this.importers.delete(ref);
      for (const thread of threads) this.signal(thread, { kind: 'ended', at, reason });
    });
  }

  /** The home reports the end: of an actor with a ref here, or of the proxy of a resident. */
  private actorEnded(at: ActorAddress, reason: StopReason): void {
    const imported = this.imports.get(at.thread)?.get(at.slot);
    if (imported?.route.address.generation === at.generation) imported.route.ended(imported.ref, reason);
    for (const early of this.residents.forget(at)) {
      if ('signal' in early) continue;
      const message = `message ${early.handler}`;
      this.runtime.deadLetters.unaddressed(idOf(at), message, early.payload);
      if (early.ask !== undefined)
        this.threads.refuse(early.from, early.ask.number, this.runtime.asks.undeliveredTo(idOf(at), message));
    }
  }

  // The end of a thread.

  threadEnded(thread: number, error: Error, unread: readonly UnreadMessage[], lost: number): void {
    this.reportLost(thread, lost);
    for (const { at, handler, payload, ask } of unread) {
      const proxy = this.find(at.thread, at.slot, at.generation);
      if (ask !== undefined || proxy === undefined) this.lost += 1;
      else this.runtime.deadLetters.undelivered(proxy, handler, payload, 'thread-ended');
    }
    this.asks.threadEnded(thread, error);
    for (const ref of [...this.placed]) {
      const route = ref.cell.cold?.route as PlacedRoute;
      if (route.runsOn === thread) route.lost(ref.cell, error);
    }
    for (const { ref, route } of [...(this.imports.get(thread)?.values() ?? [])]) route.ended(ref, 'failed');
    this.unpauseImports(thread);
    this.residents.threadEnded(thread);
    for (const threads of this.importers.values()) threads.delete(thread);
    for (const { paused } of this.backlogs.values()) paused.delete(thread);
    this.roomAgain(thread);
    this.names.threadEnded(thread);
    this.events.threadEnded(thread);
  }

  /** The mailbox that paused them has ended with its thread. */
  private unpauseImports(thread: number): void {
    for (const bySlot of this.imports.values())
      for (const { route } of bySlot.values()) if (route.runsOn === thread) route.unpause();
  }

  /** Only their number is known. */
  private reportLost(thread: number, lost: number): void {
    if (lost === 0) return;
    this.lost += lost;
    const name = this.threads.nameOf(thread);
    this.runtime.log.write('warn', `${name} has ended with ${lost} messages in the mailboxes of its actors`, {
      thread: name,
      lost,
    });
  }

  get waiting(): number {
    const { ready, stashes } = this.runtime;
    return ready.queued + ready.inlineMessages + stashes.held + this.keptBack;
  }

  get isBusy(): boolean {
    return this.runtime.ready.awake;
  }

  report(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.runtime.log.write('error', message, fields);
  }

  close(): Promise<void> | undefined {
    return this.threads.close();
  }
}

function endActor(cell: ActorCell, how: 'stop' | 'drain' | 'kill'): void {
  if (how === 'stop') cell.requestStop();
  else if (how === 'drain') cell.requestDrain();
  else cell.requestKill();
}
