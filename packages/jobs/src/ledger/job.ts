import type { JobSpec } from '../job/job-spec.js';
import type { Payload } from '../job/payload.js';
import type { JobFailure } from '../jobs-error.js';

export type JobState = 'queued' | 'running' | 'done' | 'dead' | 'cancelled';

/** A spec with the number under which the records know it. */
export class Policy {
  readonly no: number;
  readonly spec: JobSpec;
  /** How many jobs of the ledger refer to it, ended ones included. */
  jobs = 0;

  constructor(no: number, spec: JobSpec) {
    this.no = no;
    this.spec = spec;
  }
}

/** How a job ended. */
export interface JobEnd {
  readonly at: number;
  readonly result: Payload | undefined;
  /** Why it is dead, or why it was cancelled. */
  readonly reason: string;
  readonly failure: JobFailure | undefined;
}

/**
 * One job. Everything but `pending`, `lease` and `waiters` is the fold of the records; those belong to the leader that
 * has the job in hand, are never stored, and `apply` does not read them.
 */
export class Job {
  readonly no: number;
  readonly policy: Policy;
  readonly client: string;
  readonly at: number;
  readonly key: string;
  state: JobState = 'queued';
  attempt = 0;
  failures = 0;
  crashes = 0;
  payload: Payload;
  dueAt: number;
  worker = '';
  /** The failure of the latest attempt, while the job may still be tried again. */
  failure: JobFailure | undefined = undefined;
  end: JobEnd | undefined = undefined;
  /** A record about this job is on its way to the disk. */
  pending = false;
  lease: unknown = undefined;
  waiters: unknown = undefined;

  constructor(
    no: number,
    policy: Policy,
    client: string,
    at: number,
    key: string,
    payload: Payload,
    dueAt: number,
  ) {
    this.no = no;
    this.policy = policy;
    this.client = client;
    this.at = at;
    this.key = key;
    this.payload = payload;
    this.dueAt = dueAt;
  }
}
