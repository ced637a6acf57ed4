import type { JobPolicy } from '../job/definition/job-policy.js';
import type { Payload } from '../job/payload/payload.js';
import type { QueueLimits, QueueMode } from '../job/queue-control.js';
import type { TraceContext } from '../job/trace-context.js';
import type { JobFailure } from '../jobs-error.js';
import type { ScheduleRule } from './schedules/schedule-rule.js';

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
  /** Jobs of one key run in their order. Absent: none. */
  readonly orderKey?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Its key does not expire before a `key_release`. Absent: it expires with the window. */
  readonly holdsKey?: boolean | undefined;
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
  /**
   * The name of the peer that requested it, and behind it that of its principal. Optional: absent in a log of
   * a version without it.
   */
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

/** The limits of a queue from here on, in place of earlier ones. Without any: it has none. */
export interface QueueLimitsRecord extends RequestedRecord {
  readonly type: 'queue_limits';
  readonly at: number;
  /** `group/exec`, or `*` for all together. */
  readonly queue: string;
  readonly limits: QueueLimits;
}

export interface QueueModeRecord extends RequestedRecord {
  readonly type: 'queue_mode';
  readonly at: number;
  readonly queue: string;
  readonly mode: QueueMode;
}

/** A queued job that did not begin within its time. */
export interface ExpireRecord {
  readonly type: 'expire';
  readonly at: number;
  readonly job: number;
}

/**
 * A schedule is new, or is changed. Its policy counts it as a job. `by` is absent where its client acted for
 * itself.
 */
export interface ScheduleSetRecord extends RequestedRecord {
  readonly type: 'schedule_set';
  readonly at: number;
  readonly name: string;
  /** The client that set it: its jobs are jobs of this client. */
  readonly client: string;
  readonly policy: number;
  readonly rule: ScheduleRule;
  readonly payload: Payload;
  /** The wall clock of the leader, and the next instant by it. */
  readonly wallAt: number;
  readonly nextAt: number;
}

export interface ScheduleDropRecord extends RequestedRecord {
  readonly type: 'schedule_drop';
  readonly at: number;
  readonly name: string;
}

/** Paused, or resumed with its next instant. */
export interface SchedulePauseRecord extends RequestedRecord {
  readonly type: 'schedule_pause';
  readonly at: number;
  readonly name: string;
  readonly paused: boolean;
  readonly nextAt: number;
}

/**
 * An instant of a schedule has come: the next one, and the job of this one, are one fact. Without a job the
 * instant was skipped, or is held until the jobs of the runs before have ended. `by` is absent where an
 * instant has come.
 */
export interface ScheduleFireRecord extends RequestedRecord {
  readonly type: 'schedule_fire';
  readonly at: number;
  readonly name: string;
  /** The instant that is run, skipped or held. */
  readonly slotAt: number;
  readonly nextAt: number;
  readonly wallAt: number;
  /** Instants that are held from now on. */
  readonly held: number;
  /** The job of the latest run that goes on, which this one replaces; 0: none. */
  readonly replaced: number;
  /** One or none: a schedule runs an instant once. */
  readonly jobs: readonly Submission[];
}

/** One dead letter is put back into its queue with another input. */
export interface RedriveEditedRecord extends RequestedRecord {
  readonly type: 'redrive_edited';
  readonly at: number;
  readonly job: number;
  readonly payload: Payload;
}

/** Workers of this name get no jobs, or get them again. */
export interface WorkerQuietRecord extends RequestedRecord {
  readonly type: 'worker_quiet';
  readonly at: number;
  readonly worker: string;
  readonly quiet: boolean;
}

/** Held keys expire with the window from now on. An earlier version, which holds no keys, skips it. */
export interface KeyReleaseRecord {
  readonly type: 'key_release';
  readonly at: number;
  /** With their scope, as the window has them. */
  readonly keys: readonly string[];
}

/** An act that leaves no other record, such as the stop of a worker. An earlier version skips it. */
export interface AuditRecord extends RequestedRecord {
  readonly type: 'audit';
  readonly at: number;
  readonly action: string;
  readonly target: string;
  readonly detail: string;
}

/** A fact. The ledger is the fold of all records, in order. */
/** Requests of operators and clients. */
export type ActRecord =
  | CancelRecord
  | RedriveRecord
  | RedriveEditedRecord
  | PurgeRecord
  | QueueLimitsRecord
  | QueueModeRecord
  | ScheduleSetRecord
  | ScheduleDropRecord
  | SchedulePauseRecord
  | ScheduleFireRecord
  | WorkerQuietRecord;

/** The beginning of a log, and the policies, producers and limits that its jobs refer to. */
export type SetupRecord =
  | GenesisRecord
  | LimitsRecord
  | PolicyRecord
  | PolicyDropRecord
  | ProducerRecord
  | ProducerDropRecord;

export type LedgerRecord =
  | EnqueueRecord
  | EnqueueAllRecord
  | AssignRecord
  | AckRecord
  | RequeueRecord
  | DeadRecord
  | ExpireRecord
  | FeedRecord
  | FeedEndRecord
  | FeedDropRecord
  | ActRecord
  | SetupRecord
  | StateRecord
  | TickRecord
  | AuditRecord
  | SpillFileRecord
  | SpillDropRecord
  | KeyReleaseRecord;
