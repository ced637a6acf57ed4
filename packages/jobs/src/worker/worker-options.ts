import { callback, listOf, number, type OptionRule, rule, wholeNumber } from '@troupe/core/option-check';
import { isSubjectPattern } from '@troupe/transport';
import type { JobFailure } from '../jobs-error.js';
import { plainName } from '../option-check.js';
import { handledJob } from './handler.js';

/** An attempt that ended without a result, as it is reported to the leader. */
export interface AttemptFailure {
  readonly jobId: string;
  readonly exec: string;
  readonly attempt: number;
  /** `final`: there is no further attempt. */
  readonly outcome: 'failed' | 'final' | 'timed-out';
  readonly failure: JobFailure;
}

/** An attempt whose result the leader did not take: it had been taken from this worker before. */
export interface StaleAttempt {
  readonly jobId: string;
  readonly attempt: number;
}

/** Bounds and times of a worker. */
export interface WorkerSettings {
  /** Attempts that run at once. */
  readonly slots: number;
  /** Payload bytes held at once. */
  readonly bytesMax: number;
  /** No new work is granted while the processor is busier than this share; 1 turns the cap off. */
  readonly cpuCap: number;
  /** How long the cap may withhold a slot before it is granted all the same. */
  readonly withholdMsMax: number;
  /** Subjects it serves. */
  readonly patterns: readonly string[];
}

export const DEFAULT_WORKER_SETTINGS: WorkerSettings = {
  slots: 16,
  bytesMax: 64 * 1024 * 1024,
  cpuCap: 0.75,
  withholdMsMax: 1_300,
  patterns: ['job.assign.>'],
};

const subjectPattern = rule(
  'a subject pattern such as job.assign.mail.*',
  (value) => typeof value === 'string' && isSubjectPattern(value),
);

/** For embedded and remote workers. */
export const WORKER_CHECKS = {
  name: plainName(100),
  handlers: listOf(handledJob),
  onFailure: callback,
  onStale: callback,
  slots: wholeNumber(1, 16_384),
  bytesMax: wholeNumber(1),
  cpuCap: number(0.01, 1),
  withholdMsMax: number(0, 3_600_000),
  patterns: listOf(subjectPattern),
} satisfies Readonly<
  Record<keyof WorkerSettings | 'name' | 'handlers' | 'onFailure' | 'onStale', OptionRule>
>;
