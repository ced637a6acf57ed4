import type { ActorCell } from '../../actor/actor-cell.js';
import type { AnyDefinition } from '../../define/actor-definition.js';
import type { SpawnOptionsWithArgs } from '../../define/spawn-options.js';
import { OptionError } from '../../errors/error-classes.js';
import type { CellRef } from '../../ref/cell-ref.js';
import { PlacedRoute } from './placed-route.js';
import { type ProxyDefinitions, remoteOf } from './proxy-definitions.js';
import type { Route, RouteParts } from './route.js';

/** The proxies of actors that were spawned from here on other threads. */
export class PlacedProxies {
  private readonly parts: RouteParts;
  private readonly definitions: ProxyDefinitions;
  private readonly placed = new Set<CellRef>();

  constructor(parts: RouteParts, definitions: ProxyDefinitions) {
    this.parts = parts;
    this.definitions = definitions;
  }

  /** Definition and options of the proxy of an actor that is to run elsewhere; undefined for one here. */
  place(
    definition: AnyDefinition,
    options: SpawnOptionsWithArgs,
  ): { readonly definition: AnyDefinition; readonly options: SpawnOptionsWithArgs } | undefined {
    const { threads } = this.parts;
    const { on, args, supervise, middleware, ...rest } = options;
    const thread = threads.place(on as string);
    if (thread === threads.self) return undefined;
    if (middleware !== undefined)
      throw new OptionError('spawn.middleware', middleware, 'needed no middleware: functions do not cross');
    const remote = remoteOf(definition);
    threads.checkPlaceable(remote, definition);
    const route = new PlacedRoute(this.parts, remote, thread, threads.pack({ args, supervise }));
    return { definition: this.definitions.placedOf(definition), options: { ...rest, args: route } };
  }

  /** The proxy was spawned. */
  spawned(cell: ActorCell): void {
    const { ref } = cell;
    cell.ensureCold().route = cell.args as Route;
    this.placed.add(ref);
    this.watch(ref);
  }

  private watch(ref: CellRef): void {
    ref.cell.ensureCold().onStopped.push(() => {
      if (ref.cell.isTerminated) this.placed.delete(ref);
      else this.watch(ref);
    });
  }

  /** The thread of that routee of a pool on each thread. */
  threadOfRoutee(serial: number): string {
    const { threads } = this.parts;
    const all = [threads.self, ...threads.others].filter((thread) => thread !== 0).sort((a, b) => a - b);
    return threads.nameOf(all[serial % all.length] as number);
  }

  /** The actors there have failed. */
  threadEnded(thread: number, error: Error): void {
    for (const ref of [...this.placed]) {
      const route = ref.cell.cold?.route as PlacedRoute;
      if (route.runsOn === thread) route.lost(ref.cell, error);
    }
  }
}
