import { checkOption, number } from '@troupe/core/option-check';
import { JobSnoozedError } from '../../jobs-error.js';
import { definitionError, YEAR_MS } from '../../option-check.js';

const delay = number(0, YEAR_MS);

/** The method of every attempt's context. */
export function snooze(delayMs: number): never {
  checkOption('snooze', delayMs, delay, definitionError);
  throw new JobSnoozedError(delayMs);
}
