import type { JobPolicy } from '../../job/definition/job-policy.js';
import type { Payload } from '../../job/payload/payload.js';
import type { TraceContext } from '../../job/trace-context.js';
import type { JobFailure, RefusalCode } from '../../jobs-error.js';
import type { FeedMessage, FeedState, OpenFeed } from '../feed-messages.js';
import type { ProtocolOffer } from '../job-protocol.js';
import type { SessionMessage } from '../session-messages.js';
import type { ReadStream, StreamConsumed, StreamItems } from '../stream-messages.js';
import type { AdminAnswer, AdminRequest } from './admin-messages.js';

/** A client's first message. `token` identifies the client object and stays over reconnects. */
export interface ClientHello extends ProtocolOffer {
  readonly client: string;
  readonly token: string;
}

/** One submit. `seq` counts from 1; repeated under the same number it is the same submit. */
export interface SubmitItem {
  readonly seq: number;
  /** A policy announced before with `define`. */
  readonly ref: number;
  readonly payload: Payload;
  readonly key: string;
  readonly delayMs: number;
  /**
   * The receipt comes once the submit is durable; with this flag the outcome follows when the job has ended.
   */
  readonly wantsOutcome: boolean;
  readonly trace?: TraceContext | undefined;
  /** Jobs of one key run in their order. Absent: none. */
  readonly orderKey?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** When it may run, in milliseconds since 1970; `delayMs` is for a leader that does not know it. */
  readonly runAt?: number | undefined;
  /** Its key is kept until `release-keys`, whatever the key window. */
  readonly holdsKey?: boolean | undefined;
}

/** A definition that this leader cannot read or does not allow: submits that refer to it are refused. */
export interface UnsupportedPolicy {
  readonly problem: string;
}

export type ClientMessage =
  | { readonly kind: 'define'; readonly ref: number; readonly policy: JobPolicy | UnsupportedPolicy }
  /** `low`: every receipt up to this number has arrived. */
  | { readonly kind: 'submit'; readonly low: number; readonly items: readonly SubmitItem[] }
  | {
      readonly kind: 'submit_all';
      readonly low: number;
      readonly seq: number;
      readonly items: readonly SubmitItem[];
    }
  | { readonly kind: 'await'; readonly jobs: readonly number[] }
  | { readonly kind: 'call'; readonly call: number; readonly request: AdminRequest }
  | ({ readonly kind: 'read_stream' } & ReadStream)
  | { readonly kind: 'stream_consumed'; readonly items: readonly StreamConsumed[] }
  | { readonly kind: 'stop_stream'; readonly reader: number }
  | ({ readonly kind: 'open_feed' } & OpenFeed)
  | ({ readonly kind: 'feed' } & FeedMessage)
  | { readonly kind: 'close_feed'; readonly feed: number }
  | { readonly kind: 'heartbeat' }
  /** The client is closed: its token is never used again. */
  | { readonly kind: 'close' };

export interface Refusal {
  readonly code: RefusalCode;
  readonly problem: string;
  /** 0: the same submit will never be accepted. */
  readonly retryAfterMs: number;
}

/** `jobs`: one number for a submit, one for each item of a `submit_all`. */
export interface Receipt {
  readonly seq: number;
  readonly jobs: readonly number[];
  readonly lsn: number;
  readonly duplicate: boolean;
  readonly refusal: Refusal | undefined;
}

/** The end of a job; `unknown` if the leader does not know it. */
export interface JobOutcome {
  readonly job: number;
  readonly state: 'done' | 'dead' | 'cancelled' | 'unknown';
  readonly result: Payload | undefined;
  readonly reason: string;
  readonly failure: JobFailure | undefined;
  /** JSON of what its handler set by `trailer`. Absent: nothing. */
  readonly metadata?: string | undefined;
}

/** Durability of a record: it survives nothing, the end of the machine, or the loss of its disk. */
export type DurabilityLevel = 'memory' | 'fsync' | 'replicated';

export type ToClient =
  | SessionMessage
  | ({
      readonly kind: 'welcome';
      readonly tag: string;
      readonly outstandingMax: number;
      readonly payloadBytesMax: number;
      /** Of every receipt of this session. Absent: `fsync`. */
      readonly level?: DurabilityLevel | undefined;
      /** Of the connection: its listener reads no further ahead. */
      readonly inFlightMax?: number | undefined;
    } & ProtocolOffer)
  | { readonly kind: 'receipts'; readonly items: readonly Receipt[] }
  | { readonly kind: 'outcomes'; readonly items: readonly JobOutcome[] }
  | { readonly kind: 'answer'; readonly call: number; readonly answer: AdminAnswer }
  | ({ readonly kind: 'stream_items' } & StreamItems)
  | { readonly kind: 'feed_states'; readonly items: readonly FeedState[] };
