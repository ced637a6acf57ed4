import type { AnyDefinition } from '../define/actor-definition.js';
import { checkIsDefinition } from '../define/check-definition.js';
import { checkSpawnOptions, type SpawnOptions, type SpawnOptionsWithArgs } from '../define/spawn-options.js';
import { OptionError, SystemStoppedError } from '../errors/error-classes.js';
import type { Middleware } from '../middleware/middleware.js';
import type { CellRef } from '../ref/cell-ref.js';
import { ActorCell } from './actor-cell.js';
import type { ActorHome, ProxyRoute } from './actor-home.js';
import type { ActorType } from './actor-type.js';
import type { ActorTypeCache } from './actor-type-cache.js';
import type { Parts } from './runtime-parts.js';

/** Makes actors. */
export class ActorSpawner {
  private readonly runtime: Parts<'childLists' | 'events' | 'ready' | 'registry' | 'remote' | 'restarts'>;
  private readonly types: ActorTypeCache;
  private readonly system: { readonly name: string; readonly middleware: readonly Middleware[] };

  constructor(runtime: ActorSpawner['runtime'], types: ActorTypeCache, system: ActorSpawner['system']) {
    this.runtime = runtime;
    this.types = types;
    this.system = system;
  }

  /**
   * `ref`: the ref that the place of the actor in a tree has already; it outlives the actors at this place.
   */
  spawn(
    parent: ActorCell,
    definition: AnyDefinition,
    options: SpawnOptionsWithArgs | undefined,
    ref?: CellRef,
    home?: ActorHome,
  ): ActorCell {
    checkIsDefinition(definition);
    const { childLists, events, ready, registry, restarts } = this.runtime;
    if (parent.isClosed)
      throw new SystemStoppedError(this.system.name, `spawning ${definition.name} under ${parent.path}`);
    if (options !== undefined) checkSpawnOptions(options);
    if (options?.on !== undefined) return this.spawnOn(parent, definition, options, ref);
    if (options?.name !== undefined) registry.checkFree(parent, options.name);
    const middleware = this.middlewareFor(parent, options);
    const type = this.types.of(definition, middleware);
    const slot = options?.name === undefined ? this.anonymousSlot(parent, type) : ready.slots.reserve();
    const cell = new ActorCell(type, slot, options?.args, ref);
    if (ref !== undefined) ref.cell = cell;
    ready.slots.put(slot, cell);
    childLists.add(parent, slot);
    if (options !== undefined) this.applyOptions(cell, options);
    if (home !== undefined) cell.ensureCold().home = home;
    if (middleware !== this.system.middleware) cell.ensureCold().middleware = middleware;
    restarts.makeState(cell);
    if (type.spec.started !== undefined || type.hasPhaseHooks) cell.putSignal({ kind: 'start' });
    if (events.hasListeners) events.publish({ kind: 'spawned', path: cell.path, actor: type.name });
    return cell;
  }

  /** Elsewhere: a proxy takes its place here. */
  private spawnOn(
    parent: ActorCell,
    definition: AnyDefinition,
    { on, ...options }: SpawnOptionsWithArgs,
    ref: CellRef | undefined,
  ): ActorCell {
    const { remote } = this.runtime;
    if (remote === undefined) {
      if (on === 'main') return this.spawn(parent, definition, options, ref);
      throw new OptionError('spawn.on', on, 'needed a system with the option `threads`');
    }
    const placed = remote.place(definition, { on, ...options });
    if (placed === undefined) return this.spawn(parent, definition, options, ref);
    const cell = this.spawn(parent, placed.definition, placed.options, ref);
    remote.spawned(cell);
    return cell;
  }

  /** The proxy of an actor elsewhere: no child of any actor here. */
  spawnProxy(definition: AnyDefinition, route: ProxyRoute): ActorCell {
    const { ready, restarts } = this.runtime;
    const slot = ready.slots.reserve();
    const cell = new ActorCell(this.types.of(definition, this.system.middleware), slot, route, undefined);
    ready.slots.put(slot, cell);
    cell.ensureCold().route = route;
    restarts.makeState(cell);
    return cell;
  }

  /** A slot whose number no sibling has in its name. Giving a slot back moves its number on. */
  private anonymousSlot(parent: ActorCell, type: ActorType): number {
    const { ready, registry } = this.runtime;
    let slot = ready.slots.reserve();
    while (registry.isTaken(parent, type, slot)) {
      ready.slots.release(slot);
      slot = ready.slots.reserve();
    }
    return slot;
  }

  private applyOptions(cell: ActorCell, options: SpawnOptions): void {
    if (options.name !== undefined) this.runtime.registry.add(cell, options.name);
    if (options.restart !== undefined) cell.ensureCold().restartType = options.restart;
    if (options.supervise !== undefined) cell.ensureCold().policy = options.supervise;
    if (options.significant !== undefined) cell.ensureCold().significant = options.significant;
  }

  /** The middleware of a subtree is handed down from parent to child. */
  private middlewareFor(parent: ActorCell, options: SpawnOptions | undefined): readonly Middleware[] {
    const inherited = parent.cold?.middleware ?? this.system.middleware;
    return options?.middleware === undefined ? inherited : [...inherited, ...options.middleware];
  }
}
