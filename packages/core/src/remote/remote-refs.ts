import type { ActorCell } from '../actor/actor-cell.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { StopReason } from '../runtime-event.js';
import { ImportedRoute } from './proxy/imported-route.js';
import { type ProxyDefinitions, remoteOf } from './proxy/proxy-definitions.js';
import { Route, type RouteParts } from './proxy/route.js';
import type { Residents } from './residents.js';
import type { ActorAddress, RemoteRef } from './threads.js';

/** The proxy of a ref that came from another thread. */
interface ImportedProxy {
  readonly ref: CellRef;
  readonly route: ImportedRoute;
}

/**
 * Refs between threads: the addresses of actors, the proxies of refs that came here, and the threads that
 * refs of this thread have gone to.
 */
export class RemoteRefs {
  private readonly parts: RouteParts;
  private readonly residents: Residents;
  private readonly definitions: ProxyDefinitions;
  /** Proxies without a parent, by home and slot. */
  private readonly imports = new Map<number, Map<number, ImportedProxy>>();
  /** Threads that have a ref, by the actor. */
  private readonly importers = new Map<CellRef, Set<number>>();

  constructor(parts: RouteParts, residents: Residents, definitions: ProxyDefinitions) {
    this.parts = parts;
    this.residents = residents;
    this.definitions = definitions;
  }

  /** Proxies without a parent. */
  get proxies(): number {
    let proxies = 0;
    for (const bySlot of this.imports.values()) proxies += bySlot.size;
    return proxies;
  }

  /** The ref of an actor, as other threads know it. */
  refOf(cell: ActorCell): RemoteRef {
    const { self } = this.parts.threads;
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

  /** The actor of a ref, or its proxy; one is made where there is none. */
  cellOf(ref: RemoteRef): ActorCell {
    return this.find(ref) ?? this.import(ref);
  }

  /** The actor itself, or its proxy. */
  find({ thread: home, slot, generation }: ActorAddress): ActorCell | undefined {
    const { threads, runtime } = this.parts;
    if (home === threads.self) return runtime.ready.slots.find(slot, generation);
    return this.residents.find(home, slot, generation) ?? this.importOf(home, slot, generation)?.ref.cell;
  }

  private importOf(home: number, slot: number, generation: number): ImportedProxy | undefined {
    const proxy = this.imports.get(home)?.get(slot);
    return proxy?.route.address.generation === generation ? proxy : undefined;
  }

  private import(ref: RemoteRef): ActorCell {
    const { thread, slot, generation, runsOn, path } = ref;
    const { parts } = this;
    const address = { thread, slot, generation };
    const definition = this.definitions.importedOf(ref.definition);
    const route = new ImportedRoute(
      parts,
      definition['~represents'] ?? ref.definition,
      runsOn,
      address,
      path,
    );
    const cell = parts.runtime.spawner.spawnProxy(definition, route);
    if (thread === parts.threads.self) {
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

  /** Another thread has a ref to an actor that has its home here. */
  imported(from: number, at: ActorAddress): void {
    const cell = this.parts.runtime.ready.slots.find(at.slot, at.generation);
    if (cell === undefined || cell.isTerminated) {
      this.parts.signal(from, { kind: 'ended', at, reason: cell?.stopReason ?? 'stopped' });
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
      for (const thread of threads) this.parts.signal(thread, { kind: 'ended', at, reason });
    });
  }

  /** The home reports the end of an actor with a ref here. */
  ended({ thread, slot, generation }: ActorAddress, reason: StopReason): void {
    const imported = this.importOf(thread, slot, generation);
    imported?.route.ended(imported.ref, reason);
  }

  threadEnded(thread: number): void {
    for (const { ref, route } of [...(this.imports.get(thread)?.values() ?? [])]) route.ended(ref, 'failed');
    // The mailbox that paused them has ended with its thread.
    for (const bySlot of this.imports.values())
      for (const { route } of bySlot.values()) if (route.runsOn === thread) route.unpause();
    for (const threads of this.importers.values()) threads.delete(thread);
  }
}
