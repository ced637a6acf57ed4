import { DEFAULT_LEDGER_LIMITS, type LedgerLimits } from '../../ledger/ledger-limits.js';

/** Every bound of a leader. A submit beyond one gets a named refusal. */
export interface LeaderLimits extends LedgerLimits {
  /** Queued and running jobs. */
  readonly jobsMax: number;
  /** The payloads of these jobs together. */
  readonly jobBytesMax: number;
  /** The input of one job. */
  readonly payloadBytesMax: number;
  /** Idempotency keys within their window. */
  readonly keysMax: number;
  /** Dead letters; beyond it submits are refused. */
  readonly deadMax: number;
  /** The payloads of dead letters together. */
  readonly deadBytesMax: number;
  /** Clients whose numbered submits are remembered. */
  readonly producersMax: number;
  /** Different job definitions in use. */
  readonly policiesMax: number;
  /** The part of `jobsMax` that one identity may use. Without keys all clients together are one identity. */
  readonly jobsPerIdentityMax: number;
  /** The part of `jobBytesMax` that one identity may use. */
  readonly jobBytesPerIdentityMax: number;
  /** The part of `keysMax` that one identity may use. */
  readonly keysPerIdentityMax: number;
  /** The part of `deadMax` that one identity may use. */
  readonly deadPerIdentityMax: number;
  /** The part of `deadBytesMax` that one identity may use. */
  readonly deadBytesPerIdentityMax: number;
  /** The part of `producersMax` that one identity may use. */
  readonly producersPerIdentityMax: number;
  /** The part of `policiesMax` that one identity may use. */
  readonly policiesPerIdentityMax: number;
  /** Schedules. */
  readonly schedulesMax: number;
  /** Files of chunks that have no room in memory. */
  readonly spillBytesMax: number;
  /** The part of `spillBytesMax` that one identity may use. */
  readonly spillBytesPerIdentityMax: number;
  /** Submits one client may have unanswered. */
  readonly outstandingMax: number;
  /** Attempts one client may have running at once. */
  readonly clientRunningMax: number;
  /** Jobs in one `submitAll`: all of them are accepted in one turn. */
  readonly batchMax: number;
  /** Items of all lists in one message of a peer. */
  readonly messageItemsMax: number;
}

/** Jobs that one turn of the leader accepts, assigns or changes: a few milliseconds of its event loop. */
export const TURN_JOBS_MAX = 4_096;

export const DEFAULT_LEADER_LIMITS: LeaderLimits = {
  ...DEFAULT_LEDGER_LIMITS,
  jobsMax: 2_000_000,
  jobBytesMax: 1024 * 1024 * 1024,
  payloadBytesMax: 1024 * 1024,
  keysMax: 1_000_000,
  deadMax: 100_000,
  deadBytesMax: 256 * 1024 * 1024,
  producersMax: 65_536,
  policiesMax: 16_384,
  jobsPerIdentityMax: 500_000,
  jobBytesPerIdentityMax: 256 * 1024 * 1024,
  keysPerIdentityMax: 250_000,
  deadPerIdentityMax: 25_000,
  deadBytesPerIdentityMax: 64 * 1024 * 1024,
  producersPerIdentityMax: 16_384,
  policiesPerIdentityMax: 4_096,
  schedulesMax: 200_000,
  spillBytesMax: 1024 * 1024 * 1024,
  spillBytesPerIdentityMax: 256 * 1024 * 1024,
  outstandingMax: 16_384,
  clientRunningMax: Number.MAX_SAFE_INTEGER,
  batchMax: TURN_JOBS_MAX,
  messageItemsMax: 65_536,
};

/**
 * The most a payload that is streamed to the disk may have. With its framing it is a body that every peer
 * accepts.
 */
export const PAYLOAD_BYTES_MAX = 255 * 1024 * 1024;

/** Times of a leader, in milliseconds of its monotonic clock. */
export interface LeaderTimes {
  /** How often leases, delays and retention are checked. */
  readonly tickMs: number;
  /** How often a worker reports that it is alive. */
  readonly heartbeatMs: number;
  /** How long a worker keeps its attempts after its connection was lost. */
  readonly resumeGraceMs: number;
  /** The same after a restart of the leader. */
  readonly reclaimMs: number;
  /** How long after the run-time limit the leader ends an attempt that its worker did not end. */
  readonly runGraceMs: number;
}

export const DEFAULT_LEADER_TIMES: LeaderTimes = {
  tickMs: 100,
  heartbeatMs: 1_000,
  resumeGraceMs: 1_000,
  reclaimMs: 10_000,
  runGraceMs: 5_000,
};
