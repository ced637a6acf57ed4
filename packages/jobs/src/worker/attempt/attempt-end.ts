import type { JobFailure } from '../../jobs-error.js';
import { JobSchemaError, JobsError, NonRetryableError } from '../../jobs-error.js';
import type { AttemptEnd } from '../../protocol/worker-messages.js';
import type { Attempt } from './attempt.js';

const MESSAGE_CHARS_MAX = 4_000;

/**
 * Whether another attempt is pointless. A value that does not fit its schema will not fit next time either.
 */
export function isFinal(error: unknown): boolean {
  return error instanceof NonRetryableError || error instanceof JobSchemaError;
}

/** A thrown value as data of bounded size. Reading it must not throw again. */
export function failureOf(error: unknown): JobFailure {
  try {
    if (!(error instanceof Error)) return { name: 'NotAnError', message: cut(String(error)) };
    const code = error instanceof JobsError ? error.code : (error as { code?: unknown }).code;
    const failure = { name: cut(String(error.name)), message: cut(String(error.message)) };
    return typeof code === 'string' ? { ...failure, code: cut(code) } : failure;
  } catch (unreadable) {
    return { name: 'UnreadableError', message: `the thrown value cannot be read: ${typeof unreadable}` };
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

/** Returned to the queue; it counts as no attempt. */
export function released(attempt: Attempt): AttemptEnd {
  return { outcome: 'released', job: attempt.job, attempt: attempt.number };
}
