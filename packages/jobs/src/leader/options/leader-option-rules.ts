import {
  anything,
  callback,
  listOf,
  type OptionRule,
  object,
  options,
  text,
  wholeNumber,
} from '@troupe/core/option-check';
import { plainName, YEAR_MS } from '../../option-check.js';
import { type LeaderLimits, type LeaderTimes, PAYLOAD_BYTES_MAX, TURN_JOBS_MAX } from './leader-limits.js';

const LIMITS: Readonly<Record<keyof LeaderLimits, OptionRule>> = {
  resultsMax: wholeNumber(0),
  resultsBytesMax: wholeNumber(0),
  keyWindowMs: wholeNumber(1, YEAR_MS),
  jobsMax: wholeNumber(1),
  jobBytesMax: wholeNumber(1),
  payloadBytesMax: wholeNumber(1, PAYLOAD_BYTES_MAX),
  keysMax: wholeNumber(0),
  deadMax: wholeNumber(0),
  deadBytesMax: wholeNumber(0),
  jobsPerIdentityMax: wholeNumber(1),
  jobBytesPerIdentityMax: wholeNumber(1),
  keysPerIdentityMax: wholeNumber(0),
  deadPerIdentityMax: wholeNumber(0),
  deadBytesPerIdentityMax: wholeNumber(0),
  producersPerIdentityMax: wholeNumber(1),
  policiesPerIdentityMax: wholeNumber(1),
  producersMax: wholeNumber(1),
  policiesMax: wholeNumber(1),
  schedulesMax: wholeNumber(0),
  spillBytesMax: wholeNumber(0),
  spillBytesPerIdentityMax: wholeNumber(0),
  outstandingMax: wholeNumber(1),
  clientRunningMax: wholeNumber(1),
  batchMax: wholeNumber(1, TURN_JOBS_MAX),
  messageItemsMax: wholeNumber(1),
};

const TIMES: Readonly<Record<keyof LeaderTimes, OptionRule>> = {
  tickMs: wholeNumber(1, 60_000),
  heartbeatMs: wholeNumber(1, 3_600_000),
  resumeGraceMs: wholeNumber(0, YEAR_MS),
  reclaimMs: wholeNumber(0, YEAR_MS),
  runGraceMs: wholeNumber(0, YEAR_MS),
};

/** The labels of all workers together. */
const labelsOfLeader = listOf(plainName(64));

/** The options of every leader, embedded or over the network. */
export const LEADER_OPTION_RULES = {
  dir: text(4_096),
  journal: callback,
  spill: callback,
  limits: options(LIMITS),
  times: options(TIMES),
  labels: labelsOfLeader,
  wal: object,
  onFatal: callback,
  observe: callback,
  // The system checks it.
  middleware: anything,
  host: object,
};
