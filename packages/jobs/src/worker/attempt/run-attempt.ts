// Hot path: once per attempt; a synchronous handler meets no promise and no closure.

import { validateBySchema } from '../../job/definition/validate-by-schema.js';
import { type Payload, payloadOfValue, payloadValue } from '../../job/payload/payload.js';
import { NotStreamingError } from '../../jobs-error.js';
import type { AttemptEnd } from '../../protocol/worker/worker-messages.js';
import type { AttemptContext, HandledJob } from '../handlers/handler.js';
import { unloadValue } from '../runners/unload-value.js';
import { pumpChunks } from '../stream/pump-chunks.js';
import type { Attempt } from './attempt.js';
import { endOfThrown, failed, failureOf, released } from './attempt-end.js';
import type { LazyAttemptContext } from './lazy-attempt-context.js';

/** Takes the end of an attempt. Only the first end of each counts. */
export interface AttemptOwner {
  finish(attempt: Attempt, end: AttemptEnd): void;
}

/**
 * Runs one attempt: decode → check the input → call the handler → check the output → encode → finish. Returns
 * true if the attempt is still running.
 */
export function runAttempt(
  attempt: Attempt,
  handled: HandledJob,
  context: LazyAttemptContext,
  owner: AttemptOwner,
): boolean {
  let output: unknown;
  try {
    output = callHandler(attempt, handled, context);
  } catch (error) {
    owner.finish(attempt, endOfError(attempt, error));
    return false;
  }
  if (!isThenable(output)) return complete(attempt, handled, output, owner);
  Promise.resolve(output).then(
    (value) => complete(attempt, handled, value, owner),
    (error: unknown) => owner.finish(attempt, endOfError(attempt, error)),
  );
  return true;
}

function callHandler(attempt: Attempt, handled: HandledJob, context: LazyAttemptContext): unknown {
  const { job } = handled;
  if (attempt.stream !== undefined && job.chunk === undefined) throw new NotStreamingError(job.exec);
  const value = payloadValue(attempt.takePayload());
  const input = validateBySchema(job.exec, 'input', job.input, value);
  if (handled.load !== undefined && !context.hasInstance) return callLoaded(attempt, handled, context, input);
  return input instanceof Promise
    ? input.then((checked) => callRun(attempt, handled, context, checked))
    : callRun(attempt, handled, context, input);
}

/** The value of `load` is made for this attempt, and ends with its handler. */
async function callLoaded(
  attempt: Attempt,
  handled: HandledJob,
  context: LazyAttemptContext,
  input: unknown,
): Promise<unknown> {
  const checked = await input;
  const loaded = await handled.load?.();
  context.loaded = loaded;
  try {
    return await callRun(attempt, handled, context, checked);
  } finally {
    await unloadValue(handled, loaded);
  }
}

/** The handler of a job with chunks is an async generator, or a function with one output and no chunk. */
function callRun(attempt: Attempt, handled: HandledJob, context: AttemptContext, input: unknown): unknown {
  const { job, run, runStream } = handled;
  if (job.chunk === undefined) return run(input, context);
  const output = (attempt.stream === undefined ? run : runStream)(input, context);
  if (isAsyncIterable(output)) return pumpChunks(attempt, job, output[Symbol.asyncIterator]());
  return isThenable(output) ? pumpLater(attempt, job, output) : servedOutput(attempt, job, output);
}

async function pumpLater(
  attempt: Attempt,
  job: HandledJob['job'],
  promise: PromiseLike<unknown>,
): Promise<unknown> {
  const output = await promise;
  if (isAsyncIterable(output)) return pumpChunks(attempt, job, output[Symbol.asyncIterator]());
  return servedOutput(attempt, job, output);
}

/** An output without chunks is no answer to readers of chunks. */
function servedOutput({ stream }: Attempt, { exec }: HandledJob['job'], output: unknown): unknown {
  if (stream !== undefined) throw new NotStreamingError(exec);
  return output;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** The checked output is not used: the raw one travels, and the caller's schema transforms it once. */
function complete(attempt: Attempt, { job }: HandledJob, output: unknown, owner: AttemptOwner): boolean {
  let checked: unknown;
  try {
    checked = validateBySchema(job.exec, 'output', job.output, output);
  } catch (error) {
    owner.finish(attempt, endOfError(attempt, error));
    return false;
  }
  if (!(checked instanceof Promise)) {
    owner.finish(attempt, endOfOutput(attempt, output));
    return false;
  }
  checked.then(
    () => owner.finish(attempt, endOfOutput(attempt, output)),
    (error: unknown) => owner.finish(attempt, endOfError(attempt, error)),
  );
  return true;
}

function endOfOutput(attempt: Attempt, output: unknown): AttemptEnd {
  const { job, number, outputBytes } = attempt;
  let result: Payload;
  try {
    result = encodeOutput(output);
  } catch (error) {
    return failed(attempt, 'final', failureOf(error));
  }
  if (result.length <= outputBytes) return { outcome: 'ok', job, attempt: number, result };
  const message = `output of ${result.length} bytes, at most ${outputBytes}`;
  return failed(attempt, 'final', { name: 'OutputTooLarge', message });
}

function encodeOutput(output: unknown): Payload {
  // The most common output.
  if (output === undefined || output === null) return 'null';
  const payload = payloadOfValue(output);
  if (payload === undefined) throw new TypeError(`output cannot be written as JSON: a ${typeof output}`);
  return payload;
}

function endOfError(attempt: Attempt, error: unknown): AttemptEnd {
  if (attempt.aborted === 'draining') return released(attempt);
  const isTimedOut = attempt.aborted === 'run-time' || attempt.aborted === 'silence';
  return isTimedOut ? failed(attempt, 'timed-out', failureOf(error)) : endOfThrown(attempt, error);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}
