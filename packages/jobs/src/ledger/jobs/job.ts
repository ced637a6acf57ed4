import type { Payload } from '../../job/payload/payload.js';
import type { JobFailure } from '../../jobs-error.js';
import type { StoredPolicy } from './stored-policy.js';

export type JobState = 'queued' | 'running' | 'done' | 'dead' | 'cancelled';

/** How a job ended. */
export interface JobEnd {
  readonly at: number;
  readonly result: Payload | undefined;
  /** Why it is dead, or why it was cancelled. */
  readonly reason: string;
  readonly failure: JobFailure | undefined;
  /** JSON of what its handler set by `trailer`. Absent: nothing. */
  readonly metadata?: string | undefined;
}

/** The attempt of a running job. */
export interface Assignment {
  readonly worker: string;
  /** The time of its record; 0: from a snapshot of a version without it. */
  readonly startedAt: number;
}

/** State that the owner of a ledger keeps on its jobs. */
export interface OwnerState {
  readonly lease: unknown;
  readonly waiters: unknown;
}

/**
 * One job. Its fields are the fold of the records, except `heapIndex`, which follows from
 * them, and `pending`, `lease` and `waiters`: these belong to the owner of the ledger, are never stored, and
 * `apply` does not read them.
 */
export class Job<State extends OwnerState = OwnerState> {
  readonly no: number;
  readonly policy: StoredPolicy;
  readonly client: string;
  readonly at: number;
  readonly key: string;
  /** Of a queued, running or dead job. Empty: none. */
  orderKey = '';
  state: JobState = 'queued';
  attempt = 0;
  failures = 0;
  crashes = 0;
  payload: Payload;
  dueAt: number;
  /** Of a running job: others, which are far more, pay one empty field for it. */
  assignment: Assignment | undefined = undefined;
  /** Chunks of the attempt that ended last; undefined: it did not stream, or their number is lost. */
  chunks: number | undefined = undefined;
  /** The failure of the latest attempt, while the job may still be tried again. */
  failure: JobFailure | undefined = undefined;
  end: JobEnd | undefined = undefined;
  /** Its place in the heap of delayed or of dead jobs; -1: in neither. */
  heapIndex = -1;
  /** A record about this job is on its way to the disk. */
  pending = false;
  lease: State['lease'] | undefined = undefined;
  waiters: State['waiters'] | undefined = undefined;

  constructor(
    no: number,
    policy: StoredPolicy,
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

  /** Empty unless it runs. */
  get worker(): string {
    return this.assignment?.worker ?? '';
  }
}
