import type { JobDefinition } from '../../job/definition/define-job.js';
import { validateBySchema } from '../../job/definition/validate-by-schema.js';
import { type Payload, payloadValue } from '../../job/payload/payload.js';
import { JobCancelledError, JobFailedError, JobUnknownError } from '../../jobs-error.js';
import type { JobOutcome } from '../../protocol/client/client-messages.js';
import type { JobOperations } from '../handles/job-handle.js';

/** The output of a job that is done, checked by its schema. Throws the error of any other outcome. */
export function outputOf(
  definition: JobDefinition,
  outcome: JobOutcome,
  operations: Pick<JobOperations, 'idOf'>,
): unknown {
  // The usual outcome needs no id.
  const id = outcome.state === 'done' ? '' : operations.idOf(outcome.job);
  switch (outcome.state) {
    case 'done':
      return validateBySchema(definition.exec, 'output', definition.output, decode(outcome.result));
    case 'dead':
      throw new JobFailedError(id, outcome.reason, outcome.failure);
    case 'cancelled':
      throw new JobCancelledError(id, outcome.reason);
    case 'unknown':
      throw new JobUnknownError(id);
    default:
      return outcome.state satisfies never;
  }
}

function decode(payload: Payload | undefined): unknown {
  return payload === undefined || payload === '' ? undefined : payloadValue(payload);
}
