export { type ThreadsOptions, threads } from './actors/node-threads.js';
export type { PoolCounters } from './pool/machine/pool-counters.js';
export type { PoolState } from './pool/machine/pool-state.js';
export type { PoolSize } from './pool/machine/pool-workers.js';
export {
  NoTaskError,
  PoolCycleError,
  PoolFullError,
  PoolShutDownError,
  TaskCancelledError,
  TaskFailedError,
  TaskTimeoutError,
  TaskUnknownError,
} from './pool/pool-errors.js';
export type { PoolEvent } from './pool/pool-event.js';
export type { Fallback, PoolOptions } from './pool/pool-options.js';
export { type CurrentTask, currentTask } from './pool/task/current-task.js';
export type { Task, TaskResult, Tasks } from './pool/task/task-modules.js';
export type { TaskOptions } from './pool/task/task-options.js';
export { type PostResult, ThreadPoolExecutor } from './pool/thread-pool-executor.js';
export {
  NotCloneableError,
  ThreadBlockedError,
  ThreadDefinitionError,
  ThreadEndedError,
  ThreadMemoryError,
  ThreadStartError,
} from './thread/thread-errors.js';
export { transfer } from './value/transfer.js';
