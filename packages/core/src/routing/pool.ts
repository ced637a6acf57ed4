import type { ActorCell } from '../actor/cell.js';
import type { ActorContext } from '../actor/context.js';
import { defineActor } from '../actor/define.js';
import type { AnyDefinition, ArgsOf, MailboxOptions } from '../actor/definition.js';
import type { RefBase } from '../actor/ref-class.js';
import type { SpawnOptions } from '../actor/spawn-options.js';
import { OptionError } from '../errors.js';
import type { RestartType, SupervisionPolicy } from '../supervision/policy.js';
import { type DirectRouting, type Member, type Picker, pickerFor } from './picker.js';
import { type RouterBase, routerClassOf } from './router-class.js';
import type { PoolRef } from './router-face.js';
import { ROUTINGS_BY_NAME, type Routing } from './routing.js';
import { WorkQueue } from './work-queue.js';

const RETIRE_WITHIN_MS = 30_000;
export const POOL_SIZE_MAX = 65_536;

export interface PoolSettings {
  readonly size: number;
  /** Default `round-robin`. */
  readonly routing?: Routing;
  /** Unique among its siblings; without one the pool is anonymous. */
  readonly name?: string;
  /** What the pool does when a routee ends; default `permanent`. */
  readonly restart?: RestartType;
  /** The pool's policy for its routees. */
  readonly supervise?: SupervisionPolicy;
  /** With `pull`: the mailbox in which work waits. */
  readonly mailbox?: MailboxOptions;
}

/** Each routee gets its arguments by its number in the pool; needed exactly when the definition takes some. */
export type PoolOptions<D extends AnyDefinition> = PoolSettings &
  ([ArgsOf<D>] extends [void]
    ? { readonly args?: undefined }
    : { readonly args: (index: number) => ArgsOf<D> });

/** Whoever can spawn: a system, or an actor through its context. */
export interface Spawner {
  spawn: ActorContext['spawn'];
}

/** Starts a pool of actors of one definition, supervised by an actor of its own, behind one ref. */
export function spawnPool<D extends AnyDefinition>(
  owner: Spawner,
  definition: D,
  options: PoolOptions<D>,
): PoolRef<D> {
  checkPool(definition, options);
  const plan = new PoolPlan(definition, options);
  // The keeper's state takes exactly a plan; which keeper it is depends on the routing.
  const keeper = owner.spawn(plan.keeper, plan as never, plan.keeperOptions()) as unknown as RefBase;
  return plan.open(keeper.cell) as unknown as PoolRef<D>;
}

export function checkPool(
  definition: AnyDefinition,
  options: PoolSettings & { readonly args?: unknown },
): void {
  const { size, routing = 'round-robin', args } = options;
  mustBeSize(size);
  if (typeof routing === 'string' && !ROUTINGS_BY_NAME.includes(routing))
    throw new OptionError(
      'pool.routing',
      routing,
      `needed one of ${ROUTINGS_BY_NAME.join(', ')}, or { hash } or { pull }`,
    );
  if (typeof routing === 'object' && 'hash' in routing && typeof routing.hash !== 'function')
    throw new OptionError('pool.routing.hash', routing.hash, 'needed a function that gives the key');
  if (typeof routing === 'object' && 'pull' in routing) {
    mustBeCount('pool.routing.pull.window', routing.pull.window ?? 1);
    mustBeCount('pool.routing.pull.attempts', routing.pull.attempts ?? 1);
  } else if (options.mailbox !== undefined) {
    throw new OptionError(
      'pool.mailbox',
      options.mailbox,
      `only a pull pool has one; ${definition.name} has its own`,
    );
  }
  if (args !== undefined && typeof args !== 'function')
    throw new OptionError(
      'pool.args',
      args,
      'needed a function from the number of a routee to its arguments',
    );
}

function mustBeSize(size: number): void {
  mustBeCount('pool.size', size);
  if (size > POOL_SIZE_MAX) throw new OptionError('pool.size', size, `needed at most ${POOL_SIZE_MAX}`);
}

function mustBeCount(option: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new OptionError(option, value, 'needed a whole number of at least 1');
}

/** Supervises the routees; they are started with it, and again when it is restarted, under the same refs. */
const Keeper = defineActor('pool', {
  state: (plan: PoolPlan) => plan,
  handlers: {},
  started: (ctx) => ctx.state.fill(ctx as unknown as ActorCell),
});

/** What a pool is, over all restarts of its keeper: its routees' refs and the router in front of them. */
export class PoolPlan {
  readonly keeper: AnyDefinition;
  readonly options: PoolSettings & { readonly args?: ((index: number) => unknown) | undefined };
  /** The ref of its keeper, which the next keeper at its place in a tree gets too. */
  keeperRef: RefBase | undefined = undefined;
  private readonly definition: AnyDefinition;
  readonly work: WorkQueue | undefined;
  private router: RouterBase | undefined = undefined;
  private members: Member[] = [];
  private serials = 0;
  private wanted: number;

  constructor(
    definition: AnyDefinition,
    options: PoolSettings & { readonly args?: ((index: number) => unknown) | undefined },
  ) {
    this.definition = definition;
    this.options = options;
    this.wanted = options.size;
    const { routing = 'round-robin' } = options;
    if (typeof routing === 'object' && 'pull' in routing) {
      this.work = new WorkQueue(routing.pull);
      this.keeper = pullKeeperOf(definition, options.mailbox);
    } else {
      this.work = undefined;
      this.keeper = Keeper;
    }
  }

  keeperOptions(): SpawnOptions {
    const { name, supervise } = this.options;
    return { ...(name === undefined ? {} : { name }), ...(supervise === undefined ? {} : { supervise }) };
  }

  /** Fills the pool and opens its router, for a keeper that has just been spawned. */
  open(keeper: ActorCell): RouterBase {
    this.keeperRef = keeper.ref;
    if (this.router === undefined) {
      const { host } = keeper.kind.runtime;
      const picker = this.pickerFor(keeper.ref, () => host.random());
      this.router = Object.defineProperties(
        new (routerClassOf(this.definition))(keeper, this.definition, picker),
        {
          size: { get: () => this.wanted },
          resize: { value: (size: number) => this.resize(size) },
          // Whichever incarnation the keeper is in.
          cell: { get: () => this.keeperRef?.cell },
        },
      );
    }
    this.fill(keeper);
    return this.router;
  }

  /** Starts those that are missing: all of them at the beginning and after a restart, the new ones after a resize. */
  fill(keeper: ActorCell): void {
    const present = new Set<RefBase>(keeper.children as readonly RefBase[]);
    for (const member of this.members) if (!present.has(member.ref)) this.startMember(keeper, member);
    while (this.members.length < this.wanted) {
      const serial = this.serials;
      const ref = this.startMember(keeper, { serial, ref: undefined });
      this.serials += 1;
      this.members.push({ serial, ref });
    }
    this.announce(keeper);
  }

  private resize(size: number): void {
    mustBeSize(size);
    const keeper = (this.router as RouterBase).cell;
    this.wanted = size;
    for (const { ref } of this.members.splice(size)) {
      ref.cell.markReleased();
      keeper.kind.runtime.timers.killAfter(ref.cell, RETIRE_WITHIN_MS);
      ref.cell.requestDrain();
    }
    this.fill(keeper);
  }

  private startMember(
    keeper: ActorCell,
    { serial, ref }: { readonly serial: number; readonly ref: RefBase | undefined },
  ): RefBase {
    const args = this.options.args?.(serial);
    const options = { name: String(serial), restart: this.options.restart ?? ('permanent' as const) };
    return keeper.kind.runtime.spawn(keeper, this.definition, args, options, ref).ref;
  }

  private announce(keeper: ActorCell): void {
    this.router?.use(this.members);
    this.work?.use(keeper, this.members);
  }

  private pickerFor(keeper: RefBase, random: () => number): Picker | undefined {
    const { routing = 'round-robin' } = this.options;
    if (routing === 'broadcast') return undefined;
    if (typeof routing === 'object' && 'pull' in routing) return { pick: () => keeper, use: () => undefined };
    return pickerFor(routing as DirectRouting, random);
  }
}

/** A keeper's definition per routee's: a definition per pool would stay behind in the system for every pool there was. */
const pullKeepers = new WeakMap<AnyDefinition, AnyDefinition>();

function pullKeeperOf(definition: AnyDefinition, mailbox: MailboxOptions | undefined): AnyDefinition {
  const known = mailbox === undefined ? pullKeepers.get(definition) : undefined;
  if (known !== undefined) return known;
  const made = makePullKeeper(definition, mailbox);
  if (mailbox === undefined) pullKeepers.set(definition, made);
  return made;
}

/** Work is sent to the keeper itself, under the routee's own message names, and waits in its mailbox. */
function makePullKeeper(definition: AnyDefinition, mailbox: MailboxOptions | undefined): AnyDefinition {
  const workOf = (cell: ActorCell): WorkQueue => (cell.state as PoolPlan).work as WorkQueue;
  const handlers = Object.fromEntries(
    definition['~handlerNames'].map((name, handler) => [
      name,
      (ctx: unknown, payload?: unknown) => workOf(ctx as ActorCell).take(ctx as ActorCell, handler, payload),
    ]),
  );
  return defineActor(`pool of ${definition.name}`, {
    state: (plan: PoolPlan) => plan,
    handlers,
    ...(mailbox === undefined ? {} : { mailbox }),
    started: (ctx) => ctx.state.fill(ctx as unknown as ActorCell),
    stopping: (ctx) => workOf(ctx as unknown as ActorCell).finish(ctx as unknown as ActorCell),
    stopWithinMs: RETIRE_WITHIN_MS,
  });
}
