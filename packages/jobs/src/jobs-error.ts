import { keepClassNames } from '@troupe/core/class-names';
import type { StreamPosition, StreamRefusal } from './protocol/stream-messages.js';

/** Every error of this package. Match on `code`, never on the text. */
export abstract class JobsError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** A job definition, or the options of a call, that cannot be used. */
export class JobDefinitionError extends JobsError {
  override readonly code = 'ERR_JOB_DEFINITION';
  readonly subject: string;

  constructor(subject: string, problem: string) {
    super(`${subject}: ${problem}`);
    this.subject = subject;
  }
}

export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

export type SchemaSide = 'input' | 'output' | 'chunk' | 'feed';

/**
 * A value that its schema does not accept: the input at submit, an item of a feed, or the output or a chunk
 * when it is read.
 */
export class JobSchemaError extends JobsError {
  override readonly code = 'ERR_JOB_SCHEMA';
  readonly exec: string;
  readonly side: SchemaSide;
  readonly issues: readonly SchemaIssue[];

  constructor(exec: string, side: SchemaSide, issues: readonly SchemaIssue[]) {
    const first = issues[0];
    const where = first === undefined || first.path === '' ? '' : ` at ${first.path}`;
    super(`job ${exec}: ${side}${where} does not fit its schema: ${first?.message ?? 'no reason given'}`);
    this.exec = exec;
    this.side = side;
    this.issues = issues;
  }
}

/** Why a leader refused a submit. Nothing was recorded. */
export type RefusalCode =
  | 'ERR_QUEUE_FULL'
  | 'ERR_SUBMIT_WINDOW_FULL'
  | 'ERR_SUBMIT_RATE'
  | 'ERR_PAYLOAD_TOO_LARGE'
  | 'ERR_PAYLOAD_LOST'
  | 'ERR_KEY_CONFLICT'
  | 'ERR_KEY_WINDOW_FULL'
  | 'ERR_DEAD_LETTERS_FULL'
  | 'ERR_DISK_LOW'
  | 'ERR_DISK_SLOW'
  | 'ERR_LEADER_DRAINING'
  | 'ERR_QUEUE_DRAINING'
  | 'ERR_EXEC_UNKNOWN'
  | 'ERR_EXEC_UNSUPPORTED'
  | 'ERR_FORBIDDEN'
  | 'ERR_PRODUCERS_FULL'
  | 'ERR_POLICIES_FULL'
  | 'ERR_MESSAGE_MALFORMED';

export class JobRefusedError extends JobsError {
  override readonly code: RefusalCode;
  /** Whether the same submit may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterMs: number;

  constructor(code: RefusalCode, problem: string, retryAfterMs: number) {
    super(`submit refused: ${problem}`);
    this.code = code;
    this.retryable = retryAfterMs > 0;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Why a leader refused a request about schedules, workers or dead letters. Nothing was changed. */
export type RequestRefusalCode =
  | 'ERR_QUEUE_INVALID'
  | 'ERR_QUEUES_FULL'
  | 'ERR_SCHEDULE_INVALID'
  | 'ERR_SCHEDULE_UNKNOWN'
  | 'ERR_SCHEDULES_FULL'
  | 'ERR_LEADER_BUSY'
  | 'ERR_WORKER_UNKNOWN'
  | 'ERR_JOB_NOT_DEAD'
  | 'ERR_INPUT_TOO_LARGE';

/** The leader refused a request of an operator or a client. Nothing was changed. */
export class RequestRefusedError extends JobsError {
  override readonly code: RequestRefusalCode;
  /** The request. */
  readonly call: string;
  readonly problem: string;

  constructor(call: string, code: RequestRefusalCode, problem: string) {
    super(`${call} refused: ${problem}`);
    this.code = code;
    this.call = call;
    this.problem = problem;
  }
}

/** The rules of this identity do not allow it. */
export class ForbiddenError extends JobsError {
  override readonly code = 'ERR_FORBIDDEN';

  constructor(what: string, needed: string) {
    super(`${what}: this identity may not; it needs ${needed}`);
  }
}

/**
 * Why a leader ends a session. After a replaced one the next begins by itself; the others are final.
 * `ERR_SESSION_REFUSED`: for a reason that this version does not know.
 */
export type SessionRefusalCode =
  | 'ERR_SESSION_MALFORMED'
  | 'ERR_SESSION_REPLACED'
  | 'ERR_SESSION_VERSION'
  | 'ERR_SESSION_STOPPED'
  | 'ERR_SESSION_REFUSED';

/** The leader does not know this call, or cannot read it: it is of another version. */
export class CallUnsupportedError extends JobsError {
  override readonly code = 'ERR_CALL_UNSUPPORTED';
  readonly call: string;

  constructor(call: string, problem: string) {
    super(`${call}: not supported by this leader: ${problem}; update the leader`);
    this.call = call;
  }
}

/** The leader refused the session of this client or worker. */
export class SessionRefusedError extends JobsError {
  override readonly code: SessionRefusalCode;
  readonly problem: string;

  constructor(code: SessionRefusalCode, problem: string) {
    super(`session refused: ${problem}`);
    this.code = code;
    this.problem = problem;
  }
}

/** The address has another leader, or the same one with another folder: it has none of this client's jobs. */
export class LeaderChangedError extends JobsError {
  override readonly code = 'ERR_LEADER_CHANGED';

  constructor(before: string, now: string) {
    super(
      `client: the leader is another one, its ids start with ${now}- and not ${before}-; connect anew. Unanswered submits may or may not have been accepted by the earlier one`,
    );
  }
}

/** The error that ended an attempt, as data. */
export interface JobFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** Where it was thrown; at most 2,000 characters. */
  readonly stack?: string;
  /** The cause of the error, at most three deep. */
  readonly cause?: JobFailure;
}

/** The job became a dead letter. */
export class JobFailedError extends JobsError {
  override readonly code = 'ERR_JOB_FAILED';
  readonly jobId: string;
  readonly reason: string;
  readonly failure: JobFailure | undefined;
  /** Of a stream: behind its last chunk. */
  readonly position: StreamPosition | undefined;

  constructor(
    jobId: string,
    reason: string,
    failure: JobFailure | undefined,
    position?: StreamPosition | undefined,
  ) {
    super(
      `job ${jobId}: ended in the dead letters (${reason})${failure === undefined ? '' : `: ${failure.message}`}`,
    );
    this.jobId = jobId;
    this.reason = reason;
    this.failure = failure;
    this.position = position;
  }
}

export class JobCancelledError extends JobsError {
  override readonly code = 'ERR_JOB_CANCELLED';
  readonly jobId: string;
  /** Of a stream: behind its last chunk. */
  readonly position: StreamPosition | undefined;

  constructor(jobId: string, reason: string, position?: StreamPosition | undefined) {
    super(`job ${jobId}: cancelled${reason === '' ? '' : `: ${reason}`}`);
    this.jobId = jobId;
    this.position = position;
  }
}

/** Thrown by `context.snooze`: the attempt ends, and the job is tried again after the delay. */
export class JobSnoozedError extends JobsError {
  override readonly code = 'ERR_JOB_SNOOZED';
  readonly delayMs: number;

  constructor(delayMs: number) {
    super(`job: to be tried again in ${delayMs} ms; let this error leave the handler`);
    this.delayMs = delayMs;
  }
}

/** The leader does not know this id: it never existed, or its retention has passed. */
export class JobUnknownError extends JobsError {
  override readonly code = 'ERR_JOB_UNKNOWN';
  readonly jobId: string;

  constructor(jobId: string) {
    super(`job ${jobId}: unknown here, or its retention has passed`);
    this.jobId = jobId;
  }
}

/** The text is no job id, or an id of another leader's folder. */
export class JobForeignError extends JobsError {
  override readonly code = 'ERR_JOB_FOREIGN';
  readonly jobId: string;

  constructor(jobId: string, tag: string) {
    super(`job ${jobId}: not an id of this leader, whose ids start with ${tag}-`);
    this.jobId = jobId;
  }
}

/** A wait limit was reached before the job ended. The job goes on. */
export class JobWaitError extends JobsError {
  override readonly code = 'ERR_JOB_WAIT';
  readonly jobId: string;

  constructor(jobId: string, withinMs: number) {
    super(`job ${jobId}: no outcome within ${withinMs} ms; it goes on, open it again by its id`);
    this.jobId = jobId;
  }
}

/**
 * A submit had no receipt within its limit. It may or may not be accepted; with a key it can be submitted
 * again.
 */
export class SubmitWaitError extends JobsError {
  override readonly code = 'ERR_SUBMIT_WAIT';
  readonly exec: string;

  constructor(exec: string, withinMs: number) {
    super(`job ${exec}: submit not answered within ${withinMs} ms; it may or may not have been accepted`);
    this.exec = exec;
  }
}

/**
 * The leader did not answer a call (cancel, inspect, list, overview, redrive, purge) within its limit. A
 * change may or may not have been made; the same call may be made again.
 */
export class CallWaitError extends JobsError {
  override readonly code = 'ERR_CALL_WAIT';
  readonly call: string;

  constructor(call: string, withinMs: number) {
    super(`${call}: not answered by the leader within ${withinMs} ms; it may be carried out later`);
    this.call = call;
  }
}

/** The leader refused to let a stream be read: the job does not stream, or the position is in the future. */
export class StreamRefusedError extends JobsError {
  override readonly code = 'ERR_STREAM_REFUSED';
  readonly jobId: string;
  /** The caller's state, its argument, or a bound. */
  readonly status: StreamRefusal;

  constructor(jobId: string, status: StreamRefusal, problem: string) {
    super(`stream of job ${jobId} refused, ${status}: ${problem}`);
    this.jobId = jobId;
    this.status = status;
  }
}

/** The states of calls that other systems know, by which a refusal can be told apart without its code. */
export type CallStatus =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'PERMISSION_DENIED'
  | 'FAILED_PRECONDITION'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAVAILABLE';

/** Why a leader refused items of a feed. Nothing of them was recorded. */
export type FeedRefusalCode = keyof typeof FEED_STATUS;

const FEED_STATUS = {
  ERR_FEED_EMPTY: 'INVALID_ARGUMENT',
  ERR_JOB_UNKNOWN: 'NOT_FOUND',
  ERR_FORBIDDEN: 'PERMISSION_DENIED',
  ERR_FEED_UNSUPPORTED: 'FAILED_PRECONDITION',
  ERR_FEED_ENDED: 'FAILED_PRECONDITION',
  ERR_PAYLOAD_TOO_LARGE: 'INVALID_ARGUMENT',
  ERR_MESSAGE_MALFORMED: 'INVALID_ARGUMENT',
  ERR_QUEUE_FULL: 'RESOURCE_EXHAUSTED',
  ERR_DISK_LOW: 'UNAVAILABLE',
  ERR_DISK_SLOW: 'UNAVAILABLE',
} as const satisfies Readonly<Record<string, CallStatus>>;

/** An item of a feed was not accepted, and nothing of it was recorded. */
export class FeedRefusedError extends JobsError {
  override readonly code: FeedRefusalCode;
  readonly jobId: string;
  readonly status: CallStatus;
  /** Whether the same item may be accepted later. */
  readonly retryable: boolean;
  readonly retryAfterMs: number;

  constructor(jobId: string, code: FeedRefusalCode, problem: string, retryAfterMs: number) {
    super(`feed of job ${jobId} refused: ${problem}`);
    this.jobId = jobId;
    this.code = code;
    // A leader of a later version may have further codes.
    this.status = FEED_STATUS[code] ?? 'FAILED_PRECONDITION';
    this.retryable = retryAfterMs > 0;
    this.retryAfterMs = retryAfterMs;
  }
}

/** An item of a feed was not accepted within its limit. It may or may not have been accepted. */
export class FeedWaitError extends JobsError {
  override readonly code = 'ERR_FEED_WAIT';
  readonly jobId: string;

  constructor(jobId: string, withinMs: number) {
    super(`feed of job ${jobId}: not accepted within ${withinMs} ms; it may or may not have been accepted`);
    this.jobId = jobId;
  }
}

/** Another attempt of the job has begun: the chunks so far are void. */
export class StreamResetError extends JobsError {
  override readonly code = 'ERR_STREAM_RESET';
  readonly jobId: string;
  /** Pass it as `from` to go on with the new attempt. */
  readonly position: StreamPosition;

  constructor(jobId: string, attempt: number) {
    super(`stream of job ${jobId}: attempt ${attempt} has begun, the chunks so far are void`);
    this.jobId = jobId;
    this.position = { attempt, offset: 0 };
  }
}

/** Chunks of a stream cannot be replayed. */
export class StreamGapError extends JobsError {
  override readonly code = 'ERR_STREAM_GAP';
  readonly jobId: string;
  readonly from: number;
  /** Undefined: their number is lost, because leader and worker have both ended. */
  readonly to: number | undefined;
  /** Pass it as `from` to go on behind the gap. */
  readonly position: StreamPosition;

  constructor(jobId: string, attempt: number, from: number, to: number | undefined) {
    super(`stream of job ${jobId}: chunks ${from} to ${to ?? 'the end'} of attempt ${attempt} are lost`);
    this.jobId = jobId;
    this.from = from;
    this.to = to;
    this.position = { attempt, offset: to ?? from };
  }
}

export class ClientClosedError extends JobsError {
  override readonly code = 'ERR_CLIENT_CLOSED';

  constructor() {
    super('client: closed; unanswered submits may or may not have been accepted');
  }
}

/** The log breaks a rule of the ledger: corruption, or a bug. */
export class LedgerCorruptError extends JobsError {
  override readonly code = 'ERR_LEDGER_CORRUPT';

  constructor(problem: string, options?: ErrorOptions) {
    super(`ledger: ${problem}`, options);
  }
}

/**
 * The folder was written by a version whose records this one cannot read, or is not a leader's. It is not
 * damaged: the version named in the text reads it.
 */
export class LedgerVersionError extends JobsError {
  override readonly code = 'ERR_LEDGER_VERSION';
  readonly exitCode = 65;

  constructor(problem: string, options?: ErrorOptions) {
    super(`ledger: ${problem}`, options);
  }
}

/** A line of a dump that cannot be loaded: it is no record, or the lines before it do not allow it. */
export class LedgerLineError extends JobsError {
  override readonly code = 'ERR_LEDGER_LINE';
  readonly exitCode = 65;
  /** Counts from 1. */
  readonly line: number;

  constructor(line: number, problem: string, options?: ErrorOptions) {
    super(`line ${line}: ${problem}; mend it, or cut every line of that job`, options);
    this.line = line;
  }
}

/** The log of a folder has no such record any more, or not yet. */
export class LedgerMomentError extends JobsError {
  override readonly code = 'ERR_LEDGER_MOMENT';
  readonly exitCode = 66;
  readonly lsn: number;

  constructor(lsn: number, problem: string) {
    super(`record ${lsn}: not in this log, ${problem}; name a record between its first and its last`);
    this.lsn = lsn;
  }
}

/** The journal could not make a batch durable. The leader stops at once and acknowledges nothing more. */
export class JournalFailedError extends JobsError {
  override readonly code = 'ERR_JOURNAL_FAILED';

  constructor(problem: string, options?: ErrorOptions) {
    super(`journal: ${problem}; the leader has stopped and acknowledged nothing of it`, options);
  }
}

/** Jobs with durable streams are under way, and their files cannot be opened: the leader does not start. */
export class SpillFailedError extends JobsError {
  override readonly code = 'ERR_SPILL_FAILED';

  constructor(problem: string, options?: ErrorOptions) {
    super(
      `files of streams: ${problem}; durable streams are under way, so the leader does not start without them: mend that and start it again`,
      options,
    );
  }
}

/** The log has another leader. The leader stops at once; its jobs go on with the other one. */
export class JournalDeposedError extends JobsError {
  override readonly code = 'ERR_JOURNAL_DEPOSED';

  constructor(problem: string, options?: ErrorOptions) {
    super(`journal: ${problem}; this leader has stepped down and answers nothing more`, options);
  }
}

/** The disk of the folder is smaller than the space that must stay free: a leader there would take no job. */
export class LogDiskTooSmallError extends JobsError {
  override readonly code = 'ERR_LOG_DISK_TOO_SMALL';
  readonly diskBytes: number;
  readonly freeBytesSoft: number;

  constructor(dir: string, diskBytes: number, freeBytesSoft: number) {
    super(
      `folder ${dir}: its disk has ${diskBytes} bytes, and submits are refused while fewer than ${freeBytesSoft} are free; use a larger disk, or a smaller wal.freeBytesSoft`,
    );
    this.diskBytes = diskBytes;
    this.freeBytesSoft = freeBytesSoft;
  }
}

/** Thrown by a handler: no further attempt. */
export class NonRetryableError extends JobsError {
  override readonly code: string = 'ERR_NON_RETRYABLE';
}

/** The handler of a job that was submitted with `streaming` gave an output and no chunks. */
export class NotStreamingError extends JobsError {
  override readonly code = 'ERR_NOT_STREAMING';
  readonly exec: string;

  constructor(exec: string) {
    super(`job ${exec}: its handler has no chunks for readers; make run a generator, or add runStream`);
    this.exec = exec;
  }
}

/** A job of a built-in runner that its worker does not allow: program, arguments, folder, host or address. */
export class RunnerRefusedError extends NonRetryableError {
  override readonly code = 'ERR_RUNNER_REFUSED';

  constructor(problem: string) {
    super(`refused by the worker: ${problem}`);
  }
}

/** The output of a program or the body of a response is larger than its worker allows. */
export class RunnerOutputError extends NonRetryableError {
  override readonly code = 'ERR_RUNNER_OUTPUT';

  constructor(bytesMax: number) {
    super(`more than ${bytesMax} bytes of output; the worker allows no more`);
  }
}

/** A server answered that it cannot now: 408, 429 or 5xx. The job is tried again. */
export class HttpStatusError extends JobsError {
  override readonly code = 'ERR_HTTP_STATUS';
  readonly status: number;

  constructor(status: number, host: string) {
    super(`${host} answered with status ${status}`);
    this.status = status;
  }
}

/** The `load` of a warm runner failed; its own error is the cause. */
export class RunnerLoadError extends JobsError {
  override readonly code = 'ERR_RUNNER_LOAD';
  readonly runner: string;

  constructor(runner: string, problem: string) {
    super(`runner ${runner}: load failed: ${problem}`);
    this.runner = runner;
  }
}

/** An attempt waited for a warm runner for as long as it may run. */
export class RunnerWaitError extends JobsError {
  override readonly code = 'ERR_RUNNER_WAIT';
  readonly runner: string;

  constructor(runner: string, waitedMs: number) {
    super(
      `runner ${runner}: no instance within ${waitedMs} ms; see how long its load takes, or raise limits.runMs`,
    );
    this.runner = runner;
  }
}

/** The reason of a handler's abort signal. */
export class AttemptAbortedError extends JobsError {
  override readonly code = 'ERR_ATTEMPT_ABORTED';
  readonly reason: AbortReason;
  /** The reason that the cancel gave, or the cause of a fence; may be empty. */
  readonly detail: string;

  constructor(jobId: string, attempt: number, reason: AbortReason, detail = '') {
    super(`job ${jobId}, attempt ${attempt}: aborted (${detail === '' ? reason : `${reason}: ${detail}`})`);
    this.reason = reason;
    this.detail = detail;
  }
}

export type AbortReason = 'cancelled' | 'fenced' | 'run-time' | 'silence' | 'draining';

/** A message of a peer is short or damaged. Its connection ends; no part of the message was acted on. */
export class MessageMalformedError extends JobsError {
  override readonly code = 'ERR_MESSAGE_MALFORMED';
  readonly problem: string;

  constructor(problem: string, options?: ErrorOptions) {
    super(`message from a peer: ${problem}`, options);
    this.problem = problem;
  }
}

/** A list in a message of a peer has too many items. Its connection ends; nothing of it was acted on. */
export class MessageTooLongError extends JobsError {
  override readonly code = 'ERR_MESSAGE_TOO_LONG';

  constructor(itemsMax: number) {
    super(`message from a peer: more than ${itemsMax} items; cut the list into several messages`);
  }
}

/** There was no session with a leader in the time given. */
export class LeaderUnreachableError extends JobsError {
  override readonly code = 'ERR_LEADER_UNREACHABLE';
  readonly address: string;

  constructor(address: string, why: string, options?: ErrorOptions) {
    super(`leader at ${address}: ${why}`, options);
    this.address = address;
  }
}

/** The leader refuses this peer: its key, its certificate or its name. Another attempt will not help. */
export class LeaderRefusedError extends JobsError {
  override readonly code = 'ERR_LEADER_REFUSED';
  readonly address: string;
  /** The name of the answer, as in docs/wire-protocol.md §7. */
  readonly answer: string;

  constructor(address: string, answer: string, why: string) {
    super(`leader at ${address}: refused this peer: ${answer}: ${why}`);
    this.address = address;
    this.answer = answer;
  }
}

keepClassNames({
  AttemptAbortedError,
  CallUnsupportedError,
  CallWaitError,
  ClientClosedError,
  FeedRefusedError,
  FeedWaitError,
  ForbiddenError,
  HttpStatusError,
  JobCancelledError,
  JobDefinitionError,
  JobFailedError,
  JobForeignError,
  JobRefusedError,
  JobSchemaError,
  JobSnoozedError,
  JobUnknownError,
  JobWaitError,
  JobsError,
  JournalDeposedError,
  JournalFailedError,
  LeaderChangedError,
  LeaderRefusedError,
  LeaderUnreachableError,
  LedgerCorruptError,
  LedgerLineError,
  LedgerMomentError,
  LedgerVersionError,
  LogDiskTooSmallError,
  MessageMalformedError,
  MessageTooLongError,
  NonRetryableError,
  NotStreamingError,
  RequestRefusedError,
  RunnerLoadError,
  RunnerOutputError,
  RunnerRefusedError,
  RunnerWaitError,
  SessionRefusedError,
  SpillFailedError,
  StreamGapError,
  StreamRefusedError,
  StreamResetError,
  SubmitWaitError,
});
