import type { JobPolicy } from '../job/job-policy.js';
import type { Payload } from '../job/payload.js';
import type { TraceContext } from '../job/trace-context.js';
import type { JobFailure } from '../jobs-error.js';

/** The first record of a folder. `tag` is in every job id of it. */
export interface GenesisRecord {
  readonly type: 'genesis';
  readonly at: number;
  readonly tag: string;
}

export interface PolicyRecord {
  readonly type: 'policy';
  readonly at: number;
  readonly no: number;
  readonly policy: JobPolicy;
}

/** Policies that no session refers to any more. One that a job refers to when this is applied stays. */
export interface PolicyDropRecord {
  readonly type: 'policy_drop';
  readonly at: number;
  readonly policies: readonly number[];
}

export interface ProducerRecord {
  readonly type: 'producer';
  readonly at: number;
  readonly producer: number;
  readonly client: string;
  readonly token: string;
}

/** Producers whose clients have closed: none of their numbers will be sent again. */
export interface ProducerDropRecord {
  readonly type: 'producer_drop';
  readonly at: number;
  readonly producers: readonly number[];
}

/** One job as it was submitted. `dueAt` 0: at once. `key` empty: none. */
export interface Submission {
  readonly job: number;
  readonly policy: number;
  readonly dueAt: number;
  readonly key: string;
  readonly payload: Payload;
  /** Optional: absent in a log of a version without it. */
  readonly trace?: TraceContext | undefined;
}

/** `low`: the producer has received every receipt up to this number. */
export interface EnqueueRecord extends Submission {
  readonly type: 'enqueue';
  readonly at: number;
  readonly producer: number;
  readonly seq: number;
  readonly low: number;
}

/** All or none: one record. */
export interface EnqueueAllRecord {
  readonly type: 'enqueue_all';
  readonly at: number;
  readonly producer: number;
  readonly seq: number;
  readonly low: number;
  readonly jobs: readonly Submission[];
}

export interface AssignRecord {
  readonly type: 'assign';
  readonly at: number;
  readonly job: number;
  readonly attempt: number;
  readonly worker: string;
}

/** Optional fields of the end of an attempt that streamed. */
interface StreamEndFields {
  /** The number of its chunks. Absent: it did not stream, or leader and worker have both ended. */
  readonly chunks?: number | undefined;
  /** JSON of what its handler set by `trailer`. */
  readonly metadata?: string | undefined;
}

export interface AckRecord extends StreamEndFields {
  readonly type: 'ack';
  readonly at: number;
  readonly job: number;
  readonly attempt: number;
  readonly result: Payload;
}

export type RequeueType = 'retry' | 'timeout_requeue' | 'worker_down_requeue' | 'release';

export interface RequeueRecord extends StreamEndFields {
  readonly type: RequeueType;
  readonly at: number;
  readonly job: number;
  readonly attempt: number;
  readonly dueAt: number;
  readonly failure: JobFailure | undefined;
}

export type DeadReason = 'failed' | 'final' | 'timed-out' | 'quarantined' | 'payload-lost' | 'feed-dropped';

export interface DeadRecord extends StreamEndFields {
  readonly type: 'dlq';
  readonly at: number;
  readonly job: number;
  readonly attempt: number;
  readonly reason: DeadReason;
  readonly failure: JobFailure | undefined;
}

/** The request of an operator or a client. */
interface RequestedRecord {
  /** The name of the peer that requested it. Optional: absent in a log of a version without it. */
  readonly by?: string | undefined;
}

export interface CancelRecord extends RequestedRecord, StreamEndFields {
  readonly type: 'cancel';
  readonly at: number;
  readonly job: number;
  readonly reason: string;
}

export interface RedriveRecord extends RequestedRecord {
  readonly type: 'redrive';
  readonly at: number;
  readonly jobs: readonly number[];
}

export interface PurgeRecord extends RequestedRecord {
  readonly type: 'purge';
  readonly at: number;
  readonly jobs: readonly number[];
}

/**
 * The bounds of retention and of the key window from here on. In the log, so that every replay drops the same
 * jobs.
 */
export interface LimitsRecord {
  readonly type: 'limits';
  readonly at: number;
  readonly resultsMax: number;
  readonly resultsBytesMax: number;
  readonly keyWindowMs: number;
}

/** A file of the spill is about to be made: files that no record names are removed at a start. */
export interface SpillFileRecord {
  readonly type: 'spill_file';
  readonly at: number;
  readonly file: number;
}

/** No stream has chunks in these files any more. */
export interface SpillDropRecord {
  readonly type: 'spill_drop';
  readonly at: number;
  readonly files: readonly number[];
}

export interface TickRecord {
  readonly type: 'tick';
  readonly at: number;
}

/**
 * A chunk of a snapshot as a record, before all others: the beginning of a folder that was made of lines.
 */
export interface StateRecord {
  readonly type: 'state';
  readonly at: number;
  readonly chunk: Uint8Array;
}

/** Items that a client has fed to a job, with consecutive numbers of that client. */
export interface FeedRecord {
  readonly type: 'feed';
  readonly at: number;
  readonly job: number;
  /** The client and its token. */
  readonly feeder: string;
  readonly first: number;
  readonly items: readonly Payload[];
  /** The feed ends behind these items; counts as a number. */
  readonly final: boolean;
}

/** The feed of a running job has ended: no client had it open for its grace. */
export interface FeedEndRecord {
  readonly type: 'feed_end';
  readonly at: number;
  readonly job: number;
}

/** The feed is too long to be replayed: items below the number, which the handler has taken, are dropped. */
export interface FeedDropRecord {
  readonly type: 'feed_drop';
  readonly at: number;
  readonly job: number;
  readonly below: number;
}

/** A fact. The ledger is the fold of all records, in order. */
export type LedgerRecord =
  | GenesisRecord
  | PolicyRecord
  | PolicyDropRecord
  | ProducerRecord
  | ProducerDropRecord
  | EnqueueRecord
  | EnqueueAllRecord
  | AssignRecord
  | AckRecord
  | RequeueRecord
  | DeadRecord
  | CancelRecord
  | RedriveRecord
  | PurgeRecord
  | StateRecord
  | TickRecord
  | FeedRecord
  | FeedEndRecord
  | FeedDropRecord
  | LimitsRecord
  | SpillFileRecord
  | SpillDropRecord;
