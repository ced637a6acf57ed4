import type { JobPolicy } from '../../job/definition/job-policy.js';
import type { ScheduleRule } from '../../ledger/schedules/schedule-rule.js';
import type { ForPrincipal } from './for-principal.js';

/** Requests about schedules, by name. */
export type ScheduleRequest = ForPrincipal & AnyScheduleRequest;

type AnyScheduleRequest =
  | {
      readonly kind: 'schedule-set';
      readonly name: string;
      readonly policy: JobPolicy;
      /** The input of its jobs, as JSON. */
      readonly payload: string;
      readonly rule: ScheduleRule;
    }
  | { readonly kind: 'schedule-drop'; readonly name: string }
  | { readonly kind: 'schedule-pause'; readonly name: string; readonly paused: boolean }
  /** Repeated under the same number of its client it is the same run. */
  | { readonly kind: 'schedule-run'; readonly name: string }
  /** Behind this name, in the order of names. */
  | { readonly kind: 'schedules'; readonly after: string; readonly max: number };

/** A schedule as `client.schedules` shows it. Instants are milliseconds since 1970, by the wall clock. */
export interface ScheduleView {
  /** Unique in its leader. */
  readonly name: string;
  /** The name of the definition of its jobs. */
  readonly exec: string;
  /** The group of its jobs. */
  readonly group: string;
  /** The client that set it: identity and name. Its jobs are jobs of this client. */
  readonly client: string;
  /** When it runs. */
  readonly rule: ScheduleRule;
  /** No instant is run. */
  readonly paused: boolean;
  /** The next instant, without jitter. */
  readonly nextAt: number;
  /** The instant of its latest run; 0 before the first. */
  readonly lastAt: number;
  /** The wall clock when that run began. */
  readonly lastWallAt: number;
  /** The number of the job of that run; 0 before the first. */
  readonly lastJob: number;
  /** Runs so far. */
  readonly runs: number;
  /** Instants that the overlap has dropped, and absences of the leader after which none was run. */
  readonly skipped: number;
  /** Instants that wait for the end of the runs before. */
  readonly held: number;
}
