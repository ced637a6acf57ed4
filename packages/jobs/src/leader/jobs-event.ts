import type { TraceContext } from '../job/trace-context.js';
import type { RefusalCode } from '../jobs-error.js';
import type { DeadReason, RequeueType } from '../ledger/ledger-record.js';

/** An event of a leader. Created only where there is an observer. */
export type JobsEvent =
  /** A write of so many records is on the disk; `lsn` is the last of them. */
  | { readonly kind: 'durable'; readonly records: number; readonly tookMs: number; readonly lsn: number }
  /** A job is durable. */
  | {
      readonly kind: 'accepted';
      readonly job: number;
      readonly exec: string;
      readonly trace: TraceContext | undefined;
    }
  /** A worker was given a job that has waited so long. */
  | {
      readonly kind: 'assigned';
      readonly job: number;
      readonly exec: string;
      readonly attempt: number;
      readonly waitedMs: number;
      readonly trace: TraceContext | undefined;
    }
  /** A job has its output. */
  | {
      readonly kind: 'completed';
      readonly job: number;
      readonly exec: string;
      readonly sinceSubmitMs: number;
    }
  /** An attempt ended without a result, and the job waits for another. */
  | {
      readonly kind: 'requeued';
      readonly job: number;
      readonly exec: string;
      readonly cause: RequeueType;
      readonly delayMs: number;
    }
  /** A job has become a dead letter. */
  | { readonly kind: 'dead'; readonly job: number; readonly exec: string; readonly reason: DeadReason }
  /** A job was cancelled before its end. */
  | { readonly kind: 'cancelled'; readonly job: number; readonly exec: string }
  /** A submit of this client was refused. */
  | { readonly kind: 'refused'; readonly client: string; readonly code: RefusalCode }
  /** A worker came, went, or is alive in another way than before. */
  | {
      readonly kind: 'worker';
      readonly worker: string;
      readonly liveness: 'joined' | 'alive' | 'blocked' | 'silent' | 'lost' | 'gone';
    }
  /** Chunks of streams could not be written to files, or not be read again: they may become gaps. */
  | { readonly kind: 'spill-failed'; readonly problem: string }
  /** A result came for an attempt that was taken from this worker before; it changed nothing. */
  | { readonly kind: 'stale'; readonly worker: string; readonly job: number; readonly attempt: number };

export type JobsObserver = (event: JobsEvent) => void;
