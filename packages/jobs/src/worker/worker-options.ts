/** Bounds and times of a worker. */
export interface WorkerSettings {
  /** Attempts at once. */
  readonly slots: number;
  /** Payload bytes in hand at once. */
  readonly bytesMax: number;
  /** No new work is asked for while the processor is busier than this share; 1 turns the cap off. */
  readonly cpuCap: number;
  /** How long the cap may hold a slot back before it is offered all the same. */
  readonly withholdMsMax: number;
  /** Which subjects it serves. */
  readonly patterns: readonly string[];
}

export const DEFAULT_WORKER_SETTINGS: WorkerSettings = {
  slots: 16,
  bytesMax: 64 * 1024 * 1024,
  cpuCap: 0.75,
  withholdMsMax: 1_300,
  patterns: ['job.assign.>'],
};
