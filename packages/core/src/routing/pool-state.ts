import type { ActorCell } from '../actor/actor-cell.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import type { SpawnOptionsWithArgs } from '../define/spawn-options.js';
import { MisuseError } from '../errors/error-classes.js';
import { checkOption, wholeNumber } from '../option-check.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { PoolSettings } from './pool.js';
import type { PoolRouter } from './pool-router.js';
import { poolSupervisorOf } from './pool-supervisor.js';
import { type DirectRouting, type RouteeSelector, selectorFor } from './routee-selector.js';
import { WorkQueue } from './work-queue.js';

/** Time limit of a routee that is no longer wanted, and of a pool that is stopped. */
const RETIRE_WITHIN_MS = 30_000;
const POOL_SIZE_MAX = 65_536;

export const poolSize = wholeNumber(1, POOL_SIZE_MAX);

/** The place of a routee, for the life of the pool: the routee of the next supervisor gets the same. */
interface RouteePlace {
  readonly serial: number;
  readonly args: unknown;
  ref: CellRef | undefined;
}

/** A pool over all restarts of its supervisor: the places of its routees and the router in front of them. */
export class PoolState {
  readonly supervisor: AnyDefinition;
  readonly work: WorkQueue | undefined;
  /** The ref of its supervisor, which the next supervisor at its place in a tree gets too. */
  supervisorRef: PoolRouter | undefined = undefined;
  private readonly definition: AnyDefinition;
  private readonly options: PoolSettings & { readonly args?: ((index: number) => unknown) | undefined };
  private readonly places: RouteePlace[] = [];
  private serials = 0;

  constructor(
    definition: AnyDefinition,
    options: PoolSettings & { readonly args?: ((index: number) => unknown) | undefined },
  ) {
    this.definition = definition;
    this.options = options;
    const { routing } = options;
    const pull = typeof routing === 'object' && 'pull' in routing ? routing.pull : undefined;
    this.work = pull === undefined ? undefined : new WorkQueue(pull);
    this.supervisor = poolSupervisorOf(definition, pull === undefined ? undefined : (options.mailbox ?? {}));
    this.places.push(...this.newPlaces(options.size));
  }

  get size(): number {
    return this.places.length;
  }

  supervisorOptions(): SpawnOptionsWithArgs {
    const { name, supervise } = this.options;
    return { args: this, name, supervise };
  }

  /** Fills the pool for a supervisor that has just been spawned, and kills it when that fails. */
  open(supervisor: ActorCell): PoolRouter {
    try {
      this.fill(supervisor);
    } catch (error) {
      supervisor.markReleased();
      supervisor.requestKill();
      throw error;
    }
    return this.supervisorRef as PoolRouter;
  }

  /**
   * Starts the missing routees: all of them at the beginning and after a restart, the new ones after a
   * resize.
   */
  fill(supervisor: ActorCell): void {
    const present = new Set<CellRef>(supervisor.children as readonly CellRef[]);
    for (const place of this.places) {
      if (place.ref === undefined || !present.has(place.ref)) place.ref = this.start(supervisor, place);
    }
    const members = this.places.map(({ serial, ref }) => ({ serial, ref: ref as CellRef }));
    this.supervisorRef?.setMembers(members);
    this.work?.setMembers(supervisor, members);
  }

  /** Nothing has changed when it throws: arguments are user code. */
  resize(size: number): void {
    checkOption('pool.size', size, poolSize);
    const { cell: supervisor } = this.supervisorRef as PoolRouter;
    if (supervisor.isClosed)
      throw new MisuseError(`${supervisor.path}: resize: the pool is stopping or has stopped`);
    const more = this.newPlaces(size - this.places.length);
    for (const { ref } of this.places.splice(size)) retire((ref as CellRef).cell);
    this.places.push(...more);
    this.fill(supervisor);
  }

  /** The supervisor ends. A drain lets all routees finish first, within the limit of the drain. */
  finish(supervisor: ActorCell): Promise<void> | undefined {
    const isDrained = supervisor.isDraining;
    if (!isDrained) supervisor.type.runtime.timers.killAfter(supervisor, RETIRE_WITHIN_MS);
    if (this.work !== undefined) return this.work.finish(supervisor);
    return isDrained ? allDrained(supervisor.children as readonly CellRef[]) : undefined;
  }

  selectorFor(supervisor: CellRef): RouteeSelector | undefined {
    const { routing = 'round-robin' } = this.options;
    const { work } = this;
    if (routing === 'broadcast') return undefined;
    if (work !== undefined)
      return {
        select: () => (work.hasWorkers(supervisor.cell) ? supervisor : undefined),
        setMembers: () => undefined,
      };
    const { host } = supervisor.cell.type.runtime;
    return selectorFor(routing as DirectRouting, () => host.random());
  }

  private newPlaces(count: number): RouteePlace[] {
    const places: RouteePlace[] = [];
    for (let serial = this.serials; places.length < count; serial += 1) {
      places.push({ serial, args: this.options.args?.(serial), ref: undefined });
    }
    this.serials += places.length;
    return places;
  }

  private threadOf(supervisor: ActorCell, serial: number): string | undefined {
    const { on } = this.options;
    return on === 'each-thread' ? (supervisor.type.runtime.remote?.threadOfRoutee(serial) ?? on) : on;
  }

  private start(supervisor: ActorCell, { serial, args, ref }: RouteePlace): CellRef {
    const { restart = 'permanent' } = this.options;
    const options = { args, name: String(serial), restart, on: this.threadOf(supervisor, serial) };
    return supervisor.type.runtime.spawner.spawn(supervisor, this.definition, options, ref).ref;
  }
}

/** A routee that has ended by itself gets no timer. */
function retire(cell: ActorCell): void {
  if (!cell.isCurrent) return;
  cell.markReleased();
  cell.type.runtime.timers.killAfter(cell, RETIRE_WITHIN_MS);
  cell.requestDrain();
}

/** Settles when all have finished their backlog and ended. */
async function allDrained(refs: readonly CellRef[]): Promise<void> {
  const ends = refs.map(
    ({ cell }) =>
      new Promise((resolve) => {
        cell.ensureCold().onStopped.push(resolve);
        cell.requestDrain();
      }),
  );
  await Promise.all(ends);
}
