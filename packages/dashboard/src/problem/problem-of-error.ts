import { FeedRefusedError, JobRefusedError, JobSchemaError, JobsError } from '@troupe/jobs';
import { HttpProblem } from './http-problem.js';

/** The status of each code of the job system; refusals that may succeed later are 503 with `Retry-After`. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  ERR_JOB_DEFINITION: 400,
  ERR_JOB_SCHEMA: 400,
  ERR_OPTION: 400,
  ERR_MESSAGE_MALFORMED: 400,
  ERR_FORBIDDEN: 403,
  ERR_JOB_UNKNOWN: 404,
  ERR_JOB_FOREIGN: 404,
  ERR_EXEC_UNKNOWN: 404,
  ERR_KEY_CONFLICT: 409,
  ERR_JOB_CANCELLED: 410,
  ERR_STREAM_REFUSED: 412,
  ERR_PAYLOAD_TOO_LARGE: 413,
  ERR_MESSAGE_TOO_LONG: 413,
  ERR_FEED_EMPTY: 400,
  ERR_FEED_ENDED: 409,
  ERR_FEED_UNSUPPORTED: 412,
  ERR_FEED_WAIT: 504,
  ERR_JOB_FAILED: 422,
  ERR_SUBMIT_RATE: 429,
  ERR_QUEUE_INVALID: 400,
  ERR_CALL_UNSUPPORTED: 501,
  ERR_EXEC_UNSUPPORTED: 501,
  ERR_SCHEDULE_INVALID: 400,
  ERR_SCHEDULE_UNKNOWN: 404,
  ERR_SCHEDULES_FULL: 503,
  ERR_WORKER_UNKNOWN: 404,
  ERR_JOB_NOT_DEAD: 409,
  ERR_INPUT_TOO_LARGE: 413,
  ERR_QUEUES_FULL: 503,
  ERR_LEADER_BUSY: 503,
  ERR_CLIENT_CLOSED: 503,
  ERR_LEADER_CHANGED: 503,
  ERR_LEADER_UNREACHABLE: 503,
  ERR_CALL_WAIT: 504,
  ERR_SUBMIT_WAIT: 504,
  ERR_JOB_WAIT: 504,
};

/** The answer to a request whose call of the job system failed. Undefined: no error of the job system. */
export function problemOfError(error: unknown): HttpProblem | undefined {
  if (error instanceof HttpProblem) return error;
  if (!(error instanceof JobsError)) return undefined;
  const { code } = error;
  const isRefusal = error instanceof JobRefusedError || error instanceof FeedRefusedError;
  if (isRefusal && error.retryable) {
    const seconds = Math.max(1, Math.ceil(error.retryAfterMs / 1_000));
    const headers = { 'retry-after': String(seconds) };
    return new HttpProblem(STATUS_BY_CODE[code] ?? 503, code, error.message, headers);
  }
  const issues = error instanceof JobSchemaError ? error.issues : undefined;
  const detail = issues === undefined ? error.message : `${error.message} (${issues.length} in all)`;
  return new HttpProblem(STATUS_BY_CODE[code] ?? 500, code, detail);
}
