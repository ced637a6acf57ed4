import type { RateLimit } from '../../job/queue-control.js';
import type { JobState } from '../../ledger/jobs/job.js';

/** One reason why a job does not run now. All that hold are listed; each has its numbers. */
export type WaitReason =
  /** Its delay, or the delay of its next attempt, is not over. */
  | { readonly kind: 'delayed'; readonly dueAt: number; readonly leftMs: number }
  /** An operator has paused its queue, or all (`*`). */
  | { readonly kind: 'paused'; readonly queue: string; readonly since: number; readonly by: string }
  /** Its queue, or all together (`*`), have as many attempts as an operator allows. */
  | { readonly kind: 'running-max'; readonly queue: string; readonly running: number; readonly max: number }
  /**
   * The rate of its queue, of all (`*`), or of its order key is used up. `leftMs` is until the next start of
   * the queue, or until this job of the key.
   */
  | {
      readonly kind: 'rate';
      readonly of: 'queue' | 'key';
      readonly queue: string;
      readonly rate: RateLimit;
      readonly leftMs: number;
    }
  /** Jobs of its order key hold it up: `holders` have begun or are about to, `ahead` wait before it. */
  | {
      readonly kind: 'order-key';
      readonly orderKey: string;
      readonly holders: readonly number[];
      readonly max: number;
      readonly ahead: number;
    }
  /** Its tenant has as many attempts as `clientRunningMax` allows. */
  | { readonly kind: 'tenant-max'; readonly tenant: string; readonly running: number; readonly max: number }
  /** Jobs that begin before it: of its tenant, of other tenants in its queue, of higher priorities. */
  | {
      readonly kind: 'ahead';
      readonly ofTenant: number;
      readonly ofOthers: number;
      readonly ofHigherPriority: number;
      readonly priority: number;
      /** Its priority with its age. */
      readonly level: number;
    }
  /**
   * No worker is connected that serves it: `workers` are there in all, `serveExec` have its exec. `quiet`
   * would take it if no operator kept them from getting jobs.
   */
  | {
      readonly kind: 'no-worker';
      readonly workers: number;
      readonly serveExec: number;
      readonly quiet: number;
      readonly requires: readonly string[];
      readonly feature: string;
    }
  /** Workers serve it, and none has room: credit, bytes or a warm runner is missing. */
  | {
      readonly kind: 'no-credit';
      readonly eligible: number;
      readonly slots: number;
      readonly running: number;
      /** The warm runner that is missing, where nothing else is. */
      readonly runner?: string | undefined;
    }
  /** The leader is shutting down, so nothing begins. */
  | { readonly kind: 'leader-draining' }
  /** A record about it is on its way to the disk. */
  | { readonly kind: 'being-written' };

/** Why a job does not run, and when it may. */
export interface JobExplanation {
  /** Its number. */
  readonly job: number;
  /** Where it is in its life. */
  readonly state: JobState;
  /** Why it is dead or cancelled, or the worker that runs it; empty for a queued job. */
  readonly detail: string;
  /** Of a queued job; empty: it is next. */
  readonly reasons: readonly WaitReason[];
  /** Milliseconds until it begins, by the rate of late; undefined: no job of its queue has begun lately. */
  readonly estimateMs?: number | undefined;
}
