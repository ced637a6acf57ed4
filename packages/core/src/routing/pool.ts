import { mustBeDefinition } from '../actor/runtime.js';
import type { ActorContext } from '../define/context.js';
import type { AnyDefinition, ArgsOf, MailboxOptions } from '../define/definition.js';
import { OptionError } from '../errors.js';
import { oneOf, onlyKnown } from '../option-check.js';
import { checkPolicy } from '../options.js';
import type { RefBase } from '../ref/ref-class.js';
import { RESTART_TYPES, type RestartType, type SupervisionPolicy } from '../supervision/policy.js';
import { mustBeSize, PoolPlan } from './pool-plan.js';
import type { PoolRef } from './router-face.js';
import { checkRouting, type Routing } from './routing.js';

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
  mustBeDefinition(definition);
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
  onlyKnown('pool', options, ['size', 'routing', 'name', 'restart', 'supervise', 'mailbox', 'args']);
  const { size, routing = 'round-robin', args } = options;
  mustBeSize(size);
  checkRouting('pool.routing', routing);
  if (options.restart !== undefined) oneOf('pool.restart', options.restart, RESTART_TYPES);
  if (options.supervise !== undefined) checkPolicy(options.supervise);
  if (options.mailbox !== undefined && !(typeof routing === 'object' && 'pull' in routing))
    throw new OptionError(
      'pool.mailbox',
      options.mailbox,
      `only a pull pool has one; ${definition.name} has its own`,
    );
  if (args !== undefined && typeof args !== 'function')
    throw new OptionError(
      'pool.args',
      args,
      'needed a function from the number of a routee to its arguments',
    );
}
