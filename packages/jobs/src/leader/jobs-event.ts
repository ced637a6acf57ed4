import type { RefusalCode } from '../jobs-error.js';
import type { DeadReason, RequeueType } from '../ledger/ledger-record.js';

/** An event of a leader. Created only where there is an observer. */
export type JobsEvent =
  | { readonly kind: 'durable'; readonly records: number; readonly tookMs: number; readonly lsn: number }
  | { readonly kind: 'accepted'; readonly job: number; readonly exec: string }
  | {
      readonly kind: 'assigned';
      readonly job: number;
      readonly exec: string;
      readonly attempt: number;
      readonly waitedMs: number;
    }
  | {
      readonly kind: 'completed';
      readonly job: number;
      readonly exec: string;
      readonly sinceSubmitMs: number;
    }
  | {
      readonly kind: 'requeued';
      readonly job: number;
      readonly exec: string;
      readonly cause: RequeueType;
      readonly delayMs: number;
    }
  | { readonly kind: 'dead'; readonly job: number; readonly exec: string; readonly reason: DeadReason }
  | { readonly kind: 'cancelled'; readonly job: number; readonly exec: string }
  | { readonly kind: 'refused'; readonly client: string; readonly code: RefusalCode }
  | {
      readonly kind: 'worker';
      readonly worker: string;
      readonly liveness: 'joined' | 'alive' | 'blocked' | 'silent' | 'lost' | 'gone';
    }
  | { readonly kind: 'stale'; readonly worker: string; readonly job: number; readonly attempt: number };

export type JobsObserver = (event: JobsEvent) => void;
