import type { Payload } from '../../job/payload/payload.js';
import type { TraceContext } from '../../job/trace-context.js';
import type { JobFailure } from '../../jobs-error.js';
import type { FedItems, FeedRequest } from '../feed-messages.js';
import type { ProtocolOffer } from '../job-protocol.js';
import type { SessionMessage } from '../session-messages.js';
import type { HeldStream, StreamChunks, StreamWindow } from '../stream-messages.js';
import type { AttemptProgress } from './progress-messages.js';

/** Names one attempt of one job: the fence on everything that a worker reports. */
export interface AttemptRef {
  readonly job: number;
  readonly attempt: number;
}

/** The same attempt of `count` jobs with consecutive numbers, `job` first. */
export interface AttemptRange extends AttemptRef {
  readonly count: number;
}

/** A worker's first message. `incarnation` is new for every process and stays over a reconnect. */
export interface WorkerHello extends ProtocolOffer {
  readonly worker: string;
  readonly incarnation: string;
  /** Jobs it has a handler for: `group/exec`, or the exec alone where it takes that in every group. */
  readonly execs: readonly string[];
  /** Which `job.assign.{group}.{worker}` it takes. */
  readonly patterns: readonly string[];
  readonly slots: number;
  readonly credit: Credit;
  /** Proof of its heartbeat connection (ADR 0404). Without one, silence means blocked. */
  readonly heartbeatToken?: string | undefined;
  /** Its warm runners. Absent: none. */
  readonly runners?: readonly RunnerOffer[] | undefined;
  /** Jobs that require labels come only to workers with all of them. Absent: none. */
  readonly labels?: readonly string[] | undefined;
  /** Attempts it still holds, running or ended and not yet acknowledged. */
  readonly held: readonly AttemptRef[];
  /** The streams among them. Absent: none. */
  readonly streams?: readonly HeldStream[] | undefined;
}

/** The first message of a worker's heartbeat connection, from another thread of the same process. */
export interface HeartbeatHello {
  readonly worker: string;
  readonly incarnation: string;
  /** The token in the worker's hello. */
  readonly token: string;
}

/** How long the worker's event loop has been blocked; 0: it runs again, and this is the last report. */
export interface LoopBlocked {
  readonly blockedMs: number;
}

/** Totals of this session: all that the worker has ever granted (ADR 0403). */
export interface Credit {
  readonly jobs: number;
  readonly bytes: number;
}

/** A warm runner of a worker: its instances and counters, as of now. */
export interface RunnerUse {
  readonly runner: string;
  /** Instances at once. */
  readonly size: number;
  /** Attempts that the worker has granted in this session, as in {@link Credit}. */
  readonly granted: number;
  readonly loading: number;
  readonly idle: number;
  /** Instances with an attempt, or with a handler that still runs although its attempt has ended. */
  readonly held: number;
  /** Attempts that wait for an instance. */
  readonly waiting: number;
  /** Instances loaded since the worker started. */
  readonly loads: number;
  readonly loadFailures: number;
  /** Instances that were unloaded or lost since the worker started. */
  readonly recycled: number;
  /** Attempts that began on an instance since the worker started. */
  readonly runs: number;
}

export interface RunnerOffer extends RunnerUse {
  /** The jobs that run on it, as in the hello. */
  readonly execs: readonly string[];
}

/** The part of an end that only streams have. */
export interface StreamEnd {
  /** Chunks that have left the worker. Absent where it does not stream. */
  readonly chunks?: number | undefined;
  /** JSON of what the handler set by `trailer`. Absent: nothing. */
  readonly metadata?: string | undefined;
}

export type AttemptEnd = AttemptRef &
  StreamEnd &
  (
    | { readonly outcome: 'ok'; readonly result: Payload }
    | { readonly outcome: 'failed' | 'final' | 'timed-out'; readonly failure: JobFailure }
    | { readonly outcome: 'released' }
    /** Its handler wants another attempt after this time; it counts as no failure. */
    | { readonly outcome: 'snoozed'; readonly delayMs: number }
  );

export type WorkerMessage =
  /** Also the heartbeat that renews the leases of this session, whether or not an attempt ended. */
  | {
      readonly kind: 'report';
      readonly ends: readonly AttemptEnd[];
      readonly credit: Credit;
      readonly cpu: number;
      readonly lagMs: number;
      /** Handlers that still run although their attempt has ended; each holds a slot. Absent: none. */
      readonly overrun?: number | undefined;
      /** Total run time of the attempts that ended. Absent where it was not measured. */
      readonly runMs?: number | undefined;
      /** Progress and log lines of attempts; they count before the ends. */
      readonly progress?: readonly AttemptProgress[] | undefined;
      /** Warm runners that have changed since the last report. */
      readonly runners?: readonly RunnerUse[] | undefined;
    }
  /** The worker takes nothing more. Unused credit is void. */
  | { readonly kind: 'drain' }
  /** Chunks of running attempts; before the report with their ends. */
  | { readonly kind: 'chunks'; readonly items: readonly StreamChunks[] }
  /** Of attempts that are fed: when the handler begins or has taken items, and in every new session. */
  | { readonly kind: 'feed_requests'; readonly items: readonly FeedRequest[] };

export interface Assignment extends AttemptRef {
  readonly exec: string;
  readonly payload: Payload;
  readonly client: string;
  readonly runMs: number;
  readonly outputBytes: number;
  /** Its chunks have readers. Absent: they are only collected. */
  readonly streaming?: boolean | undefined;
  /** Clients may feed it. Absent: its feed has ended. */
  readonly isFed?: boolean | undefined;
  /** The attempt ends once the leader has acknowledged every chunk. */
  readonly durable?: boolean | undefined;
  /** Silence between the chunks of a generator. Absent: no limit. */
  readonly silenceMs?: number | undefined;
  readonly trace?: TraceContext | undefined;
}

export interface AttemptAbort extends AttemptRef {
  readonly reason: 'cancelled' | 'fenced';
  /** The reason that a cancel gave, or the cause of the fence. */
  readonly detail: string;
}

export type ToWorker =
  | SessionMessage
  | ({ readonly kind: 'welcome'; readonly tag: string; readonly heartbeatMs: number } & ProtocolOffer)
  | { readonly kind: 'assign'; readonly items: readonly Assignment[] }
  /** The end of an attempt is recorded: the worker may forget it. */
  | { readonly kind: 'acknowledged'; readonly items: readonly AttemptRange[] }
  /** An end of an attempt that was not running any more: it changed nothing, and the worker may forget it. */
  | { readonly kind: 'stale'; readonly items: readonly AttemptRef[] }
  | { readonly kind: 'abort'; readonly items: readonly AttemptAbort[] }
  | { readonly kind: 'stream_windows'; readonly items: readonly StreamWindow[] }
  | { readonly kind: 'fed_items'; readonly items: readonly FedItems[] };
