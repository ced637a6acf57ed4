import { Ring } from '../../collections/ring.js';
import { DEFAULT_PRIORITY } from '../../job/definition/job-policy.js';
import type { JobFeature } from '../../protocol/job-protocol.js';
import type { QueueGate } from './limits/queue-gate.js';
import type { TenantLane } from './tenant-lane.js';

/** The time over which the rate of starts is averaged. */
const RATE_MS = 10_000;
/** Less than one a day is none. */
const STARTS_PER_MS_MIN = 1 / 86_400_000;

/**
 * A queue is found by these. The same exec in another group has other submitters and workers; jobs that need
 * a feature or labels may wait long for a worker that has them, and must not stop those that do not; jobs of
 * another priority have their own turns.
 */
export interface QueueName {
  readonly exec: string;
  readonly group: string;
  readonly feature?: JobFeature | undefined;
  readonly priority?: number | undefined;
  readonly requires?: readonly string[] | undefined;
  readonly sticky?: boolean | undefined;
  /** The exec with all of these but the group, as one text. Absent: the exec alone. */
  readonly variant?: string | undefined;
}

/** The lanes of one exec in one group, of its jobs that need the same, served in turn. */
export class ExecQueue {
  readonly exec: string;
  readonly group: string;
  /** A job with a feature is begun at once, by a worker that has named it. */
  readonly feature: JobFeature | undefined;
  readonly priority: number;
  /** Labels that a worker must have. */
  readonly requires: readonly string[];
  /** The worker of the job before of the same order key is preferred. */
  readonly sticky: boolean;
  /** Its name among the queues of its group. */
  readonly variant: string;
  readonly lanes = new Map<string, TenantLane>();
  readonly round = new Ring<TenantLane>();
  /** Its attempts under way. */
  running = 0;
  /** Attempts that have begun since the leader started. */
  starts = 0;
  /** How often attempts begin, of late. */
  startsPerMs = 0;
  private sampledStarts = 0;
  /** Limits and mode that an operator has set for it. */
  gate: QueueGate | undefined = undefined;
  inRound = false;
  /** It left the round because its gate is closed. */
  isParked = false;

  constructor(name: QueueName) {
    const { exec, group, feature, priority = DEFAULT_PRIORITY, requires = [] } = name;
    const { sticky = false, variant = exec } = name;
    this.exec = exec;
    this.group = group;
    this.feature = feature;
    this.priority = priority;
    this.requires = requires;
    this.sticky = sticky;
    this.variant = variant;
  }

  /** No lane has an entry: one with an entry is in the round, or parked; and no attempt is under way. */
  get isIdle(): boolean {
    if (this.round.size > 0 || this.running > 0) return false;
    for (const lane of this.lanes.values()) if (lane.isParked || lane.gone !== 0) return false;
    return true;
  }

  /** Once a tick. */
  sample(elapsedMs: number): void {
    const begun = this.starts - this.sampledStarts;
    this.sampledStarts = this.starts;
    const weight = Math.min(1, elapsedMs / RATE_MS);
    this.startsPerMs += weight * (begun / Math.max(1, elapsedMs) - this.startsPerMs);
    if (this.startsPerMs < STARTS_PER_MS_MIN) this.startsPerMs = 0;
  }

  /** Jobs that wait in its lanes. */
  get size(): number {
    let size = 0;
    for (const lane of this.lanes.values()) size += lane.size;
    return size;
  }
}
