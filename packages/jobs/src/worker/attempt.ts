import { EMPTY_PAYLOAD, type Payload } from '../job/payload.js';
import type { AbortReason, JobFailure } from '../jobs-error.js';
import { AttemptAbortedError, JobSchemaError, JobsError, NonRetryableError } from '../jobs-error.js';
import type { Assignment, AttemptEnd } from '../protocol/worker-messages.js';

const MESSAGE_CHARS_MAX = 4_000;

/** One assignment in this worker, from when it comes to its end. */
export class Attempt {
  readonly job: number;
  readonly number: number;
  readonly exec: string;
  readonly client: string;
  readonly runMs: number;
  readonly outputBytes: number;
  readonly payloadBytes: number;
  isOver = false;
  hasBegun = false;
  /** On the host's monotonic clock, like all times here: when it came, and when it began from then on. */
  since: number;
  /** When it may run no longer. */
  deadline = Number.POSITIVE_INFINITY;
  aborted: AbortReason | undefined = undefined;
  private payload: Payload;
  private controller: AbortController | undefined = undefined;

  constructor(assignment: Assignment, now: number) {
    this.job = assignment.job;
    this.number = assignment.attempt;
    this.exec = assignment.exec;
    this.client = assignment.client;
    this.runMs = assignment.runMs;
    this.outputBytes = assignment.outputBytes;
    this.payload = assignment.payload;
    this.payloadBytes = assignment.payload.length;
    this.since = now;
  }

  begin(now: number): void {
    this.hasBegun = true;
    this.since = now;
    this.deadline = now + this.runMs;
  }

  /** Once: the handler has it parsed, and it should not wait beside that. */
  takePayload(): Payload {
    const { payload } = this;
    this.payload = EMPTY_PAYLOAD;
    return payload;
  }

  /** Made when first asked for: most handlers never do, and it costs more than a small job. */
  signal(jobId: string): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.aborted !== undefined) this.controller.abort(this.reason(jobId, this.aborted));
    }
    return this.controller.signal;
  }

  abort(jobId: string, reason: AbortReason): void {
    if (this.aborted !== undefined) return;
    this.aborted = reason;
    this.controller?.abort(this.reason(jobId, reason));
  }

  private reason(jobId: string, reason: AbortReason): AttemptAbortedError {
    return new AttemptAbortedError(jobId, this.number, reason);
  }
}

/** Whether trying again could help. A value that does not fit its schema will not fit it next time either. */
export function isFinal(error: unknown): boolean {
  return error instanceof NonRetryableError || error instanceof JobSchemaError;
}

/** Whatever was thrown, as data of bounded size. Reading it must not throw again. */
export function failureOf(error: unknown): JobFailure {
  try {
    if (!(error instanceof Error)) return { name: 'NotAnError', message: cut(String(error)) };
    const code = error instanceof JobsError ? error.code : (error as { code?: unknown }).code;
    const failure = { name: cut(String(error.name)), message: cut(String(error.message)) };
    return typeof code === 'string' ? { ...failure, code: cut(code) } : failure;
  } catch (unreadable) {
    return { name: 'UnreadableError', message: `what was thrown cannot be read: ${typeof unreadable}` };
  }
}

function cut(text: string): string {
  return text.length > MESSAGE_CHARS_MAX ? `${text.slice(0, MESSAGE_CHARS_MAX)}…` : text;
}

export function failed(
  attempt: Attempt,
  outcome: 'failed' | 'final' | 'timed-out',
  failure: JobFailure,
): AttemptEnd {
  return { outcome, job: attempt.job, attempt: attempt.number, failure };
}

/** Given back, and counted as nothing. */
export function released(attempt: Attempt): AttemptEnd {
  return { outcome: 'released', job: attempt.job, attempt: attempt.number };
}

/** One number for both. Two attempts of one job that are 1,024 apart are never in one hand. */
export function attemptKey(job: number, attempt: number): number {
  return job * 1_024 + (attempt & 1_023);
}
