import type { ActorCell } from '../actor/actor-cell.js';
import type { ActorContext } from '../define/actor-context.js';
import type { AnyDefinition, ArgsOf, MailboxOptions } from '../define/actor-definition.js';
import { checkIsDefinition } from '../define/check-definition.js';
import {
  RESTART_TYPES,
  type RestartType,
  type SupervisionPolicy,
  supervisionPolicy,
} from '../define/supervision-policy.js';
import { OptionError } from '../errors/error-classes.js';
import { anything, checkOptionNames, checkOptions, oneOf, rule } from '../option-check.js';
import { PoolState, poolSize } from './pool-state.js';
import type { PoolRef } from './router-ref.js';
import { type Routing, routingRule } from './routing-option.js';

export interface PoolSettings {
  /** The number of routees. */
  readonly size: number;
  /** The choice of a routee. Default `round-robin`. */
  readonly routing?: Routing | undefined;
  /** Unique among its siblings. Default: none, the pool is anonymous. */
  readonly name?: string | undefined;
  /** Whether a routee that ends is started again; default `permanent`. */
  readonly restart?: RestartType | undefined;
  /** The pool's policy for its routees. */
  readonly supervise?: SupervisionPolicy | undefined;
  /** With `pull`: the mailbox in which work waits. */
  readonly mailbox?: MailboxOptions | undefined;
  /**
   * The thread of its routees: as for `spawn`, or `each-thread`, which spreads them evenly over all but the
   * main thread. The pool itself is on the thread of its parent. Default: the thread of its parent.
   */
  readonly on?: string | undefined;
}

/**
 * Each routee gets its arguments by its number in the pool; needed exactly when the definition takes some.
 */
export type PoolOptions<D extends AnyDefinition> = PoolSettings &
  ([ArgsOf<D>] extends [void]
    ? { readonly args?: undefined }
    : { readonly args: (index: number) => ArgsOf<D> });

/** A system, or an actor through its context. */
export interface Spawner {
  spawn: ActorContext['spawn'];
}

/** Starts a pool of actors of one definition, supervised by an actor of its own, behind one ref. */
export function spawnPool<D extends AnyDefinition>(
  parent: ActorCell,
  definition: D,
  options: PoolOptions<D>,
): PoolRef<D> {
  checkIsDefinition(definition);
  checkPool(definition, options);
  const pool = new PoolState(definition, options);
  const { spawner } = parent.type.runtime;
  return pool.open(spawner.spawn(parent, pool.supervisor, pool.supervisorOptions())) as unknown as PoolRef<D>;
}

const POOL_RULES = {
  size: poolSize,
  routing: routingRule,
  name: anything,
  restart: oneOf(RESTART_TYPES),
  supervise: supervisionPolicy,
  mailbox: anything,
  on: rule('each-thread, any-thread or the name of a thread', (value) => typeof value === 'string'),
  args: rule(
    'a function from the number of a routee to its arguments',
    (value) => typeof value === 'function',
  ),
};

/** Refuses unknown options; the values are checked when the pool is started. */
export function checkPoolOptions(given: unknown): void {
  checkOptionNames('pool', given, Object.keys(POOL_RULES));
}

export function checkPool(
  definition: AnyDefinition,
  options: PoolSettings & { readonly args?: unknown },
): void {
  checkOptions('pool', options, POOL_RULES, { required: ['size'] });
  const { routing } = options;
  if (options.mailbox !== undefined && !(typeof routing === 'object' && 'pull' in routing))
    throw new OptionError(
      'pool.mailbox',
      options.mailbox,
      `only a pull pool has one; ${definition.name} has its own`,
    );
}
