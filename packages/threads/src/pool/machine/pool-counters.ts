/**
 * The work of a pool in numbers. At any time: scheduled = completed + failed + cancelled + active +
 * queueLength + waiting. Refused tasks and tasks that ran in the calling thread were never scheduled.
 */
export interface PoolCounters {
  /** Tasks that the pool accepted. */
  readonly scheduled: number;
  /** Tasks that returned. */
  readonly completed: number;
  /** Tasks that threw, passed their time limit, or lost their thread. */
  readonly failed: number;
  /** Tasks that were cancelled by their signal, their caller, or `kill`. */
  readonly cancelled: number;
  /** Tasks that were refused or discarded, because the pool was full or not running. */
  readonly rejected: number;
  /** Tasks that ran in the calling thread, because the pool was full. */
  readonly ranHere: number;
  /** Tasks given to a thread whose end is not reported yet. */
  readonly active: number;
  readonly queueLength: number;
  /** Tasks that wait for room in the queue. */
  readonly waiting: number;
  /** How many more tasks the queue takes. */
  readonly remainingCapacity: number;
  /** Threads of the pool, with those that are starting or ending. */
  readonly threads: number;
  readonly idleThreads: number;
  /** The largest number of threads so far. */
  readonly largest: number;
}
