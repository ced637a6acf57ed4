import { anObject, bag, type Check, isFunction, text, wholeNumber, YEAR_MS } from '../option-check.js';
import { type LeaderLimits, type LeaderTimes, PAYLOAD_BYTES_MAX } from './leader-limits.js';

const COUNT_MAX = Number.MAX_SAFE_INTEGER;

const LIMITS: Readonly<Record<keyof LeaderLimits, Check>> = {
  resultsMax: wholeNumber(0, COUNT_MAX),
  resultsBytesMax: wholeNumber(0, COUNT_MAX),
  keyWindowMs: wholeNumber(1, YEAR_MS),
  jobsMax: wholeNumber(1, COUNT_MAX),
  jobBytesMax: wholeNumber(1, COUNT_MAX),
  payloadBytesMax: wholeNumber(1, PAYLOAD_BYTES_MAX),
  keysMax: wholeNumber(0, COUNT_MAX),
  deadMax: wholeNumber(0, COUNT_MAX),
  producersMax: wholeNumber(1, COUNT_MAX),
  policiesMax: wholeNumber(1, COUNT_MAX),
  outstandingMax: wholeNumber(1, COUNT_MAX),
  clientRunningMax: wholeNumber(1, COUNT_MAX),
  batchMax: wholeNumber(1, COUNT_MAX),
};

const TIMES: Readonly<Record<keyof LeaderTimes, Check>> = {
  tickMs: wholeNumber(1, 60_000),
  heartbeatMs: wholeNumber(1, 3_600_000),
  resumeGraceMs: wholeNumber(0, YEAR_MS),
  reclaimMs: wholeNumber(0, YEAR_MS),
  runGraceMs: wholeNumber(0, YEAR_MS),
};

/** Checks of the options that every leader has, embedded or over the network. */
export const LEADER_CHECKS = {
  dir: text(4_096),
  journal: isFunction,
  limits: bag(LIMITS),
  times: bag(TIMES),
  wal: anObject,
  onFatal: isFunction,
  observe: isFunction,
  host: anObject,
};
