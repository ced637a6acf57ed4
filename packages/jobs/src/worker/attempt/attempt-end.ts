import { boundedFailure } from '../../job/job-failure.js';
import type { JobFailure } from '../../jobs-error.js';
import {
  JobSchemaError,
  JobSnoozedError,
  NonRetryableError,
  NotStreamingError,
  RunnerLoadError,
  RunnerWaitError,
} from '../../jobs-error.js';
import type { AttemptEnd } from '../../protocol/worker/worker-messages.js';
import type { RunnerFailure } from '../runners/runner-port.js';
import type { Attempt } from './attempt.js';

/**
 * Whether another attempt is pointless. A value that does not fit its schema will not fit next time either.
 */
export function isFinal(error: unknown): boolean {
  return (
    error instanceof NonRetryableError ||
    error instanceof JobSchemaError ||
    error instanceof NotStreamingError
  );
}

/** A thrown value as data of bounded size. Reading it must not throw again. */
export function failureOf(error: unknown): JobFailure {
  try {
    return boundedFailure(error instanceof Error ? error : { name: 'NotAnError', message: error });
  } catch (unreadable) {
    return { name: 'UnreadableError', message: `the thrown value cannot be read: ${typeof unreadable}` };
  }
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

/** The end that a thrown value means, on the thread of the handler. */
export function endOfThrown(attempt: Attempt, error: unknown): AttemptEnd {
  const { job, number } = attempt;
  if (error instanceof JobSnoozedError)
    return { outcome: 'snoozed', job, attempt: number, delayMs: error.delayMs };
  return failed(attempt, isFinal(error) ? 'final' : 'failed', failureOf(error));
}

/** Its warm runner could not be loaded. */
export function runnerFailed(
  attempt: Attempt,
  runner: string,
  { failure, isFinal: ends }: RunnerFailure,
): AttemptEnd {
  const error = new RunnerLoadError(runner, failure.message);
  return failed(attempt, ends ? 'final' : 'failed', { ...failureOf(error), cause: failure });
}

export function runnerWaitExceeded(attempt: Attempt, runner: string): AttemptEnd {
  return failed(attempt, 'timed-out', failureOf(new RunnerWaitError(runner, attempt.runMs)));
}

/** Whether the instance that it held may be damaged: after an error or a time limit, not after a cancel. */
export function isRunnerSuspect({ aborted }: Attempt, end?: AttemptEnd): boolean {
  if (aborted !== undefined) return aborted === 'run-time' || aborted === 'silence';
  return end?.outcome === 'failed' || end?.outcome === 'timed-out';
}

export function noHandler(attempt: Attempt): AttemptEnd {
  const message = `worker has no handler for ${attempt.exec}`;
  return failed(attempt, 'failed', { name: 'NoHandler', message });
}
