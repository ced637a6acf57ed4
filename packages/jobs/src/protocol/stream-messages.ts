import type { StreamingMode } from '../job/definition/job-policy.js';
import type { Payload } from '../job/payload/payload.js';
import type { JobOutcome } from './client/client-messages.js';
import type { AttemptRef } from './worker/worker-messages.js';

/** The largest chunk: its frame never travels in pieces, so the end of its attempt cannot overtake it. */
export const CHUNK_BYTES_MAX = 256 * 1024;

/** Chunks of one attempt with consecutive numbers. */
export interface StreamChunks extends AttemptRef {
  /** The number of the first; those of an attempt count from 0. */
  readonly first: number;
  readonly chunks: readonly Payload[];
}

/** A stream that a worker holds as it comes back. */
export interface HeldStream extends AttemptRef {
  /** The leader has acknowledged every chunk below this number; the worker repeats the others. */
  readonly first: number;
  /** So many have been yielded. */
  readonly next: number;
}

/** Set, not added: a window that arrives twice or late changes nothing (ADR 0420). */
export interface StreamWindow extends AttemptRef {
  /** The leader has every chunk below this number: the worker may forget them. */
  readonly taken: number;
  /** Bytes of chunks from that number on that the worker may have on the way. */
  readonly bytes: number;
}

/** One step of a stream as a reader gets it: `data* → end`, with `reset` and `gap` where they happen. */
export type StreamItem =
  /** Chunks with consecutive numbers. */
  | {
      readonly kind: 'data';
      readonly attempt: number;
      readonly first: number;
      readonly chunks: readonly Payload[];
    }
  /** Another attempt has begun: the chunks of earlier ones are void, and none of them follows. */
  | { readonly kind: 'reset'; readonly attempt: number }
  /**
   * Chunks that cannot be replayed: `from` up to, not including, `to`. Undefined: their number is lost,
   * because leader and worker have both ended.
   */
  | {
      readonly kind: 'gap';
      readonly attempt: number;
      readonly from: number;
      readonly to: number | undefined;
    }
  | { readonly kind: 'end'; readonly streaming: StreamingMode; readonly outcome: JobOutcome }
  | { readonly kind: 'refused'; readonly status: StreamRefusal; readonly problem: string };

/** Why a stream cannot be read: the caller's state, its argument, or a bound. */
export type StreamRefusal = 'FAILED_PRECONDITION' | 'INVALID_ARGUMENT' | 'RESOURCE_EXHAUSTED';

/** A reader's place in a stream: the next chunk it wants. Attempt 0: whichever runs. */
export interface StreamPosition {
  readonly attempt: number;
  readonly offset: number;
}

export interface ReadStream extends StreamPosition {
  /** The client's number of the reader. */
  readonly reader: number;
  readonly job: number;
  /** Bytes of chunks that may be on the way to it. */
  readonly window: number;
}

/** A reader has given every chunk below this position to its caller. */
export interface StreamConsumed extends StreamPosition {
  readonly reader: number;
}

export interface StreamItems {
  readonly reader: number;
  readonly items: readonly StreamItem[];
}
