import type { JobState } from '../../ledger/jobs/job.js';
import type { ForPrincipal } from './for-principal.js';

/** Jobs that fit every given field. */
export interface JobFilter {
  /** In this state. */
  readonly state?: JobState | undefined;
  /** With this definition. */
  readonly exec?: string | undefined;
  /** In this group. */
  readonly group?: string | undefined;
  /** Of clients of this identity; empty: of clients without one. */
  readonly tenant?: string | undefined;
  /** Of this client: identity and name. */
  readonly client?: string | undefined;
  /** With this idempotency key. */
  readonly key?: string | undefined;
  /** Queued, running and dead jobs with this order key. */
  readonly orderKey?: string | undefined;
  /** With this tag among theirs. */
  readonly tag?: string | undefined;
  /** Submitted at this time or later, in milliseconds since 1970, on the leader's clock. */
  readonly since?: number | undefined;
  /** Submitted before this time. */
  readonly until?: number | undefined;
  /** Dead letters whose failure has this text in its name, code or message. */
  readonly error?: string | undefined;
  /** Dead letters of this group of failures. */
  readonly fingerprint?: string | undefined;
}

/** Queued and running jobs behind the number `after` that fit, a batch. A dry run counts all of them. */
export interface CancelWhereRequest extends ForPrincipal {
  readonly kind: 'cancel-where';
  readonly filter: JobFilter;
  readonly reason: string;
  readonly after: number;
  readonly max: number;
  readonly dryRun: boolean;
}

/** Requests that look at jobs, clients and acts, and those that steer workers. */
export type OperatorRequest = ForPrincipal & AnyOperatorRequest;

type AnyOperatorRequest =
  /** The first jobs behind the number `after` that fit. */
  | { readonly kind: 'search'; readonly filter: JobFilter; readonly after: number; readonly max: number }
  | CancelWhereRequest
  /** Dead letters by failure, the largest groups first; of one exec, or of all. */
  | { readonly kind: 'dead-groups'; readonly exec?: string | undefined; readonly max: number }
  /** One dead letter, dead since that attempt, with another input: JSON as text. */
  | {
      readonly kind: 'redrive-edited';
      readonly job: number;
      readonly attempt: number;
      readonly payload: string;
    }
  /** Entries behind the number `after`; without it, the latest. */
  | { readonly kind: 'audit'; readonly after?: number | undefined; readonly max: number }
  | { readonly kind: 'clients' }
  | { readonly kind: 'stats' }
  /** By name, with or without its incarnation. */
  | { readonly kind: 'worker-quiet'; readonly worker: string; readonly quiet: boolean }
  /** Each such worker ends when its attempts have, or after so many milliseconds. */
  | { readonly kind: 'worker-stop'; readonly worker: string; readonly withinMs: number };
