import { describe, wholeNumber } from '@troupe/core/option-check';
import { isDefinition, type JobDefinition } from '../../job/definition/define-job.js';
import { JobDefinitionError } from '../../jobs-error.js';
import { checkOptions } from '../../option-check.js';
import { type HandledJob, handle } from './handler.js';
import { type BatchHandler, HandlerBatches } from './handler-batches.js';

export interface BatchOptions {
  /** Jobs in one batch. The worker needs as many slots. */
  readonly max: number;
}

const BATCH_OPTIONS = { max: wholeNumber(1, 16_384) };

/**
 * Joins a job definition and a handler of batches. Jobs that arrive together, or while the batch before them
 * runs, are one batch; each keeps its own outcome, retries and signal.
 */
export function handleMany<D extends JobDefinition>(
  job: D,
  handler: BatchHandler<D>,
  options: BatchOptions,
): HandledJob {
  if (!isDefinition(job))
    throw new JobDefinitionError('handleMany', `needs a job made by defineJob, got ${describe(job)}`);
  if (job.chunk !== undefined)
    throw new JobDefinitionError(`job '${job.exec}'`, 'it streams, so it is not handled in batches');
  if (typeof handler !== 'function')
    throw new JobDefinitionError(`job '${job.exec}'`, 'its handler must be a function');
  checkOptions(`handleMany '${job.exec}'`, options, BATCH_OPTIONS, ['max']);
  const batches = new HandlerBatches(job.exec, handler, options.max);
  return handle(job, (input, context) => batches.add({ input, context }));
}
