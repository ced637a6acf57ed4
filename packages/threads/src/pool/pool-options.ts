import type { ResourceLimits } from 'node:worker_threads';
import { OptionError } from '@troupe/core';
import {
  callback,
  checkOptions,
  flag,
  number,
  object,
  oneOf,
  rule,
  text,
  wholeNumber,
} from '@troupe/core/option-check';
import type { MachineSettings } from './machine/pool-machine.js';
import type { PoolSize } from './machine/pool-workers.js';
import type { PoolEvent } from './pool-event.js';

/** The reaction of a full pool. */
export type Fallback = 'abort' | 'discard' | 'caller-runs' | 'wait';

export interface PoolOptions {
  /** Threads are called `<name>-worker-<n>` in profiles and errors. Default: `pool`. */
  readonly name?: string | undefined;
  /** Threads that stay when they are idle. Default: 0. Threads start with tasks, not with the pool. */
  readonly minThreads?: number | undefined;
  /** Threads at most. Default: the number of processors. */
  readonly maxThreads?: number | undefined;
  /** Tasks that wait for a thread. Default: 65,536. */
  readonly maxQueue?: number | undefined;
  /**
   * No queue at all: a task goes to a thread at once, or to the fallback. Excludes `maxQueue`. Default false.
   */
  readonly synchronous?: boolean | undefined;
  /** A thread above `minThreads` ends after this time without a task. Default: 60,000. */
  readonly idleMs?: number | undefined;
  /**
   * For a task that finds the pool full. `abort` (default) refuses it with ERR_POOL_FULL; `discard` drops
   * it and reports it; `caller-runs` runs it in the calling thread; `wait` keeps it until there is room, up
   * to 64 times the size of the queue.
   */
  readonly fallback?: Fallback | undefined;
  /** How long a cancelled task may go on before its thread is ended. Default: 100. */
  readonly graceMs?: number | undefined;
  /** Limits of the heap of each thread. ArrayBuffers are outside of it. */
  readonly resourceLimits?: ResourceLimits | undefined;
  /** Gets every event of the pool, as a listener from the start. */
  readonly onEvent?: ((event: PoolEvent) => void) | undefined;
}

const MAX_QUEUE = 65_536;
/** As with mailboxes: senders that cannot be slowed down meet a hard limit of 64 times the capacity. */
const WAITING_FACTOR = 64;
const THREADS_MAX = 1_024;

const sizeRules = { minThreads: wholeNumber(0, THREADS_MAX), maxThreads: wholeNumber(1, THREADS_MAX) };

const rules = {
  ...sizeRules,
  name: text(64),
  maxQueue: rule(
    'a whole number of at least 1 (for no queue: synchronous)',
    (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  ),
  synchronous: flag,
  idleMs: number(0),
  fallback: oneOf(['abort', 'discard', 'caller-runs', 'wait']),
  graceMs: number(0),
  resourceLimits: object,
  onEvent: callback,
};

export interface PoolSettings extends MachineSettings {
  readonly fallback: Fallback;
  readonly graceMs: number;
  readonly resourceLimits: ResourceLimits | undefined;
}

export function poolSettings(options: PoolOptions, parallelism: number): PoolSettings {
  checkOptions('pool options', options, rules);
  const { synchronous = false } = options;
  if (synchronous && options.maxQueue !== undefined) {
    throw new OptionError('pool options.maxQueue', options.maxQueue, 'a synchronous pool has no queue');
  }
  const maxQueue = synchronous ? 0 : (options.maxQueue ?? MAX_QUEUE);
  const minThreads = options.minThreads ?? 0;
  const maxThreads = options.maxThreads ?? Math.max(parallelism, minThreads);
  return {
    ...checkedSize({ minThreads, maxThreads }),
    name: options.name ?? 'pool',
    maxQueue,
    maxWaiting: Math.max(1, maxQueue) * WAITING_FACTOR,
    idleMs: options.idleMs ?? 60_000,
    fallback: options.fallback ?? 'abort',
    graceMs: options.graceMs ?? 100,
    resourceLimits: options.resourceLimits,
  };
}

export function checkedSize(size: PoolSize): PoolSize {
  checkOptions('pool size', { minThreads: size.minThreads, maxThreads: size.maxThreads }, sizeRules);
  if (size.minThreads > size.maxThreads) {
    throw new OptionError('minThreads', size.minThreads, `needed at most maxThreads (${size.maxThreads})`);
  }
  return size;
}
