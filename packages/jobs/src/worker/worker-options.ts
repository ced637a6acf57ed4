import {
  callback,
  listOf,
  number,
  type OptionRule,
  object,
  rule,
  wholeNumber,
} from '@troupe/core/option-check';
import { isSubjectPattern } from '@troupe/transport';
import { labelsRule } from '../job/definition/job-policy.js';
import type { JobFailure } from '../jobs-error.js';
import { plainName } from '../option-check.js';
import { handledJob } from './handlers/handler.js';
import { threadsRule } from './threads/thread-options.js';

/** An attempt that ended without a result, as it is reported to the leader. */
export interface AttemptFailure {
  /** The id of the job. */
  readonly jobId: string;
  /** The name of its definition. */
  readonly exec: string;
  /** The number of the attempt: 1 is the first. */
  readonly attempt: number;
  /** `final`: there is no further attempt. */
  readonly outcome: 'failed' | 'final' | 'timed-out';
  /** Name and text of the error. */
  readonly failure: JobFailure;
}

/**
 * An attempt whose result the leader did not take: the attempt had been taken from this worker, or the same
 * result had come before a connection was lost.
 */
export interface StaleAttempt {
  /** The id of the job. */
  readonly jobId: string;
  /** The number of the attempt. */
  readonly attempt: number;
}

/** Bounds and times of a worker. */
export interface WorkerSettings {
  /** Attempts that run at once. With threads their number unless given; more are for handlers that share. */
  readonly slots: number;
  /** Payload bytes held at once. */
  readonly bytesMax: number;
  /**
   * No new work is granted while the processor is busier than this share; 1 turns the cap off, as threads do
   * unless it is given.
   */
  readonly cpuCap: number;
  /** How long the cap may withhold a slot before it is granted all the same. */
  readonly withholdMsMax: number;
  /** Subjects it serves. */
  readonly patterns: readonly string[];
  /** Jobs that require labels come only to workers with all of them. */
  readonly labels: readonly string[];
}

export const DEFAULT_WORKER_SETTINGS: WorkerSettings = {
  slots: 16,
  bytesMax: 64 * 1024 * 1024,
  cpuCap: 0.75,
  withholdMsMax: 1_300,
  patterns: ['job.assign.>'],
  labels: [],
};

/** Threads bound the work by their number: there is a slot for each, and no cap. */
export function defaultWorkerSettings(threads: number | undefined): WorkerSettings {
  return threads === undefined
    ? DEFAULT_WORKER_SETTINGS
    : { ...DEFAULT_WORKER_SETTINGS, slots: threads, cpuCap: 1 };
}

const subjectPattern = rule(
  'a subject pattern such as job.assign.mail.*',
  (value) => typeof value === 'string' && isSubjectPattern(value),
);

const handlerList = listOf(handledJob);

/** A module of handlers is for threads. */
const handlersRule: OptionRule = (value, option) =>
  value instanceof URL ? undefined : handlerList(value, option);

/** For embedded and remote workers. */
export const WORKER_CHECKS = {
  name: plainName(100),
  handlers: handlersRule,
  threads: threadsRule,
  onFailure: callback,
  onStale: callback,
  tracing: object,
  slots: wholeNumber(1, 16_384),
  bytesMax: wholeNumber(1),
  cpuCap: number(0.01, 1),
  withholdMsMax: number(0, 3_600_000),
  patterns: listOf(subjectPattern),
  labels: labelsRule,
} satisfies Readonly<
  Record<
    keyof WorkerSettings | 'name' | 'handlers' | 'threads' | 'onFailure' | 'onStale' | 'tracing',
    OptionRule
  >
>;
