import type { PoolCounters } from './pool-counters.js';
import type { PoolState } from './pool-state.js';
import type { PoolWorker } from './pool-worker.js';
import type { PoolWorkers } from './pool-workers.js';

/** A pool at rest between two calls. */
export interface CheckedPool {
  readonly name: string;
  readonly state: PoolState;
  readonly counters: Omit<PoolCounters, 'rejected' | 'ranHere'>;
  readonly workers: PoolWorkers;
  /** Whether the queue takes one more. */
  readonly hasRoom: boolean;
}

/** Throws if an invariant does not hold. */
export function checkPool(pool: CheckedPool): void {
  const { name, state, counters, workers } = pool;
  const pending = counters.queueLength + counters.waiting;
  const open = counters.active + pending;
  const sum = counters.completed + counters.failed + counters.cancelled + open;
  const problems = [
    counters.scheduled !== sum && `scheduled ${counters.scheduled} is not the sum ${sum}`,
    workers.readyCount > 0 && pending > 0 && 'ready set and queue are both in use',
    counters.waiting > 0 && pool.hasRoom && 'a task waits beside a free place',
    state === 'shut-down' && (open > 0 || !workers.isEmpty) && 'shut down with work left',
    pending > 0 && counters.threads === 0 && 'a queue without threads',
    state !== 'running' && workers.spareStarting !== undefined && 'a thread starts in vain',
    ...[...workers].map((worker) => problemOf(worker, workers.isReady(worker), pending)),
  ].filter((problem) => typeof problem === 'string');
  if (problems.length > 0) throw new Error(`pool ${name}: ${problems.join('; ')}`);
}

function problemOf(
  { name, stage, current }: PoolWorker,
  isReady: boolean,
  pending: number,
): string | undefined {
  if (isReady !== (stage === 'idle')) return `${name} is ${stage}, ready: ${isReady}`;
  if (isReady && current !== undefined) return `${name} is ready and has a task`;
  if (stage === 'starting' && current === undefined && pending > 0)
    return `${name} is starting without a task beside a queue`;
  if (stage === 'busy' && current === undefined) return `${name} is busy without a task`;
  return undefined;
}
