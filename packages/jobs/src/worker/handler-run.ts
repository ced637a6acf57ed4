// Hot path: once per attempt; a synchronous handler meets no promise.
import { type Payload, payloadOfValue, payloadValue } from '../job/payload.js';
import { checkValue } from '../job/schema-check.js';
import type { AttemptEnd } from '../protocol/worker-messages.js';
import { type Attempt, failed, failureOf, isFinal, released } from './attempt.js';
import type { AttemptContext, HandledJob } from './handler.js';

/** Hears how an attempt ended, as far as its handler goes. */
export type Finish = (attempt: Attempt, end: AttemptEnd) => void;

/** Runs one attempt: input by its schema, the handler, output by its schema. True if it is not over when this returns. */
export function runHandler(
  attempt: Attempt,
  handled: HandledJob,
  context: AttemptContext,
  finish: Finish,
): boolean {
  try {
    const value = payloadValue(attempt.takePayload());
    const input = checkValue(handled.job.exec, 'input', handled.job.input, value);
    const output =
      input instanceof Promise
        ? input.then((checked) => handled.run(checked, context))
        : handled.run(input, context);
    if (!isThenable(output)) return complete(attempt, handled, output, finish);
    Promise.resolve(output).then(
      (settled) => completeLater(attempt, handled, settled, finish),
      (error: unknown) => threw(attempt, error, finish),
    );
    return true;
  } catch (error) {
    threw(attempt, error, finish);
    return false;
  }
}

function completeLater(attempt: Attempt, handled: HandledJob, output: unknown, finish: Finish): void {
  try {
    complete(attempt, handled, output, finish);
  } catch (error) {
    threw(attempt, error, finish);
  }
}

function complete(attempt: Attempt, handled: HandledJob, output: unknown, finish: Finish): boolean {
  const checked = checkValue(handled.job.exec, 'output', handled.job.output, output);
  if (checked instanceof Promise) {
    checked.then(
      () => succeed(attempt, output, finish),
      (error: unknown) => threw(attempt, error, finish),
    );
    return true;
  }
  // The raw output travels; the caller's schema transforms it once, on the other side.
  succeed(attempt, output, finish);
  return false;
}

function succeed(attempt: Attempt, output: unknown, finish: Finish): void {
  let result: Payload;
  try {
    result = encodeOutput(output);
  } catch (error) {
    return finish(attempt, failed(attempt, 'final', failureOf(error)));
  }
  const { job, number, outputBytes } = attempt;
  if (result.length > outputBytes) {
    const message = `output of ${result.length} bytes, at most ${outputBytes}`;
    return finish(attempt, failed(attempt, 'final', { name: 'OutputTooLarge', message }));
  }
  finish(attempt, { outcome: 'ok', job, attempt: number, result });
}

function encodeOutput(output: unknown): Payload {
  // Most handlers that return nothing to speak of return this.
  if (output === undefined || output === null) return 'null';
  const payload = payloadOfValue(output);
  if (payload === undefined) throw new TypeError(`output cannot be written as JSON: a ${typeof output}`);
  return payload;
}

function threw(attempt: Attempt, error: unknown, finish: Finish): void {
  if (attempt.aborted === 'draining') return finish(attempt, released(attempt));
  const outcome = attempt.aborted === 'run-time' ? 'timed-out' : isFinal(error) ? 'final' : 'failed';
  finish(attempt, failed(attempt, outcome, failureOf(error)));
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}
