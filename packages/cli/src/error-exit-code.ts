import { StreamRefusedError } from '@troupe/jobs';
import { CliError } from './cli-error.js';
import { ExitCode } from './exit-code.js';
import { escapeControlCharacters } from './output/text/escape-control-characters.js';

export interface ExitFailure {
  readonly code: string;
  readonly exitCode: number;
  /** One line. */
  readonly message: string;
}

interface Known {
  readonly exitCode: number;
  /** Advice, where the error itself gives none. */
  readonly advice?: string;
}

const NOT_STREAMED = 'submit it with: troupe stream, or troupe submit --stream; with --fed to feed it';

/** One code for all refusals of a stream; the status tells them apart. */
const STREAM_REFUSALS: Readonly<Record<StreamRefusedError['status'], Known>> = {
  FAILED_PRECONDITION: { exitCode: ExitCode.usage, advice: NOT_STREAMED },
  INVALID_ARGUMENT: { exitCode: ExitCode.usage },
  RESOURCE_EXHAUSTED: { exitCode: ExitCode.retryLater, advice: 'try again later' },
};

const EXIT_CODES: Readonly<Record<string, Known>> = {
  ERR_LEADER_UNREACHABLE: {
    exitCode: ExitCode.unavailable,
    advice: 'is a leader running there? see --leader',
  },
  ERR_LEADER_REFUSED: { exitCode: ExitCode.notAllowed, advice: 'give the right key with --key' },
  ERR_LEADER_CHANGED: { exitCode: ExitCode.unavailable },
  ERR_SESSION_VERSION: { exitCode: ExitCode.unavailable, advice: 'update the older of the two' },
  ERR_SESSION_REFUSED: { exitCode: ExitCode.unavailable, advice: 'update this program' },
  ERR_SESSION_STOPPED: { exitCode: ExitCode.retryLater, advice: 'start it again when it is wanted' },
  ERR_QUEUE_INVALID: { exitCode: ExitCode.usage },
  ERR_QUEUES_FULL: { exitCode: ExitCode.retryLater },
  ERR_CALL_UNSUPPORTED: { exitCode: ExitCode.unavailable },
  ERR_SESSION_REPLACED: { exitCode: ExitCode.retryLater, advice: 'try again' },
  ERR_FEED_EMPTY: { exitCode: ExitCode.data },
  ERR_FEED_UNSUPPORTED: { exitCode: ExitCode.usage, advice: NOT_STREAMED },
  ERR_FEED_ENDED: { exitCode: ExitCode.noInput, advice: 'see troupe show' },
  ERR_FEED_WAIT: { exitCode: ExitCode.retryLater },
  ERR_MESSAGE_TOO_LONG: { exitCode: ExitCode.data },
  ERR_OPTION: { exitCode: ExitCode.usage },
  ERR_INVALID_URL: { exitCode: ExitCode.usage, advice: 'check the address that was given' },
  ERR_JOB_UNKNOWN: { exitCode: ExitCode.noInput },
  ERR_JOB_FOREIGN: { exitCode: ExitCode.noInput, advice: 'is --leader the one it was submitted to?' },
  ERR_SUBMIT_WAIT: {
    exitCode: ExitCode.retryLater,
    advice: 'submit again with the same --idempotency-key',
  },
  ERR_CALL_WAIT: { exitCode: ExitCode.retryLater, advice: 'is the leader running? see troupe check' },
  ERR_JOB_WAIT: { exitCode: ExitCode.retryLater, advice: 'see troupe await' },
  ERR_JOB_FAILED: { exitCode: ExitCode.jobFailed, advice: 'see troupe dlq show' },
  ERR_JOB_CANCELLED: { exitCode: ExitCode.jobFailed },
  ERR_JOB_DEFINITION: { exitCode: ExitCode.usage },
  ERR_THREAD_START: { exitCode: ExitCode.data },
  ERR_JOB_SCHEMA: { exitCode: ExitCode.data },
  ERR_QUEUE_FULL: { exitCode: ExitCode.retryLater, advice: 'try again later, or start more workers' },
  ERR_SUBMIT_RATE: { exitCode: ExitCode.retryLater, advice: 'submit more slowly' },
  ERR_SUBMIT_WINDOW_FULL: { exitCode: ExitCode.retryLater, advice: 'try again later' },
  ERR_KEY_WINDOW_FULL: { exitCode: ExitCode.retryLater, advice: 'try again later' },
  ERR_DEAD_LETTERS_FULL: { exitCode: ExitCode.retryLater },
  ERR_WAL_COPY: { exitCode: ExitCode.retryLater },
  ERR_DISK_LOW: { exitCode: ExitCode.retryLater, advice: 'free space on the disk of the leader' },
  ERR_DISK_SLOW: { exitCode: ExitCode.retryLater, advice: 'see the disk of the leader; try again later' },
  ERR_QUEUE_DRAINING: {
    exitCode: ExitCode.retryLater,
    advice: 'try again when an operator has resumed the queue',
  },
  ERR_LEADER_DRAINING: { exitCode: ExitCode.retryLater, advice: 'try again when it is back' },
  ERR_POLICIES_FULL: { exitCode: ExitCode.retryLater, advice: 'try again later' },
  ERR_SESSION_MALFORMED: { exitCode: ExitCode.usage },
  ERR_PRODUCERS_FULL: { exitCode: ExitCode.retryLater, advice: 'try again later' },
  ERR_PAYLOAD_TOO_LARGE: { exitCode: ExitCode.data, advice: 'start the leader with a larger --payload-max' },
  ERR_KEY_CONFLICT: {
    exitCode: ExitCode.data,
    advice: 'use another --idempotency-key, or the payload of the first submit',
  },
  ERR_MESSAGE_MALFORMED: { exitCode: ExitCode.data },
  ERR_EXEC_UNKNOWN: { exitCode: ExitCode.data },
  ERR_EXEC_UNSUPPORTED: { exitCode: ExitCode.data },
  ERR_PAYLOAD_LOST: {
    exitCode: ExitCode.noInput,
    advice: 'check the file; it must not change while it is sent',
  },
  ERR_FORBIDDEN: { exitCode: ExitCode.notAllowed, advice: 'use a key whose rules allow it' },
  ERR_SCHEDULE_INVALID: { exitCode: ExitCode.usage },
  ERR_SCHEDULE_UNKNOWN: { exitCode: ExitCode.noInput, advice: 'see troupe schedule ls' },
  ERR_SCHEDULES_FULL: { exitCode: ExitCode.retryLater, advice: 'remove one, or raise its limit' },
  ERR_WORKER_UNKNOWN: { exitCode: ExitCode.noInput, advice: 'see troupe workers ls' },
  ERR_JOB_NOT_DEAD: { exitCode: ExitCode.noInput, advice: 'see troupe dlq ls' },
  ERR_INPUT_TOO_LARGE: { exitCode: ExitCode.data },
  ERR_LEADER_BUSY: { exitCode: ExitCode.retryLater, advice: 'try again later' },
  ERR_CLIENT_CLOSED: { exitCode: ExitCode.unavailable },
  ERR_UNSAFE_BIND: {
    exitCode: ExitCode.config,
    advice: 'give --tls-cert, --tls-key and --key, bind 127.0.0.1, or say --insecure',
  },
  ERR_ACCESS_RULE: { exitCode: ExitCode.config },
  ERR_SECRET: { exitCode: ExitCode.config, advice: 'make a key with: troupe key new' },
  ERR_LISTEN: { exitCode: ExitCode.unavailable },
  EADDRINUSE: {
    exitCode: ExitCode.unavailable,
    advice: 'another process listens there; choose another --port, --http or --socket',
  },
  ECONNREFUSED: { exitCode: ExitCode.unavailable, advice: 'no process listens there' },
  EADDRNOTAVAIL: { exitCode: ExitCode.unavailable, advice: 'choose an address of this machine' },
  EACCES: { exitCode: ExitCode.notAllowed, advice: 'check the path and its permissions' },
  ENOENT: { exitCode: ExitCode.noInput, advice: 'check the path' },
  ENOTDIR: { exitCode: ExitCode.noInput, advice: 'check the path' },
  EISDIR: { exitCode: ExitCode.noInput, advice: 'check the path' },
  EPERM: { exitCode: ExitCode.notAllowed, advice: 'check the permissions' },
  EROFS: { exitCode: ExitCode.notAllowed, advice: 'it can only be read; choose another folder' },
  ENOSPC: { exitCode: ExitCode.io, advice: 'free space on the disk' },
  EDQUOT: { exitCode: ExitCode.io, advice: 'free space on the disk' },
  EIO: { exitCode: ExitCode.io, advice: 'the disk fails; see the log of the system' },
  EMFILE: { exitCode: ExitCode.retryLater, advice: 'too many open files; raise the limit (ulimit -n)' },
  ENFILE: { exitCode: ExitCode.retryLater, advice: 'too many open files on this machine' },
  EEXIST: { exitCode: ExitCode.cannotCreate, advice: 'it is there already; choose another path' },
  ERR_POSTGRES_UNREACHABLE: { exitCode: ExitCode.unavailable },
  ERR_POSTGRES_UNSAFE: { exitCode: ExitCode.config },
  ERR_POSTGRES_SCHEMA: { exitCode: ExitCode.data },
  ERR_POSTGRES_LOG_SHORT: { exitCode: ExitCode.data },
  ERR_JOURNAL_DEPOSED: { exitCode: ExitCode.retryLater },
  ERR_JOURNAL_FAILED: { exitCode: ExitCode.io },
  ERR_SPILL_FAILED: { exitCode: ExitCode.io },
  ERR_LOG_DISK_TOO_SMALL: { exitCode: ExitCode.config },
  ERR_LEDGER_CORRUPT: { exitCode: ExitCode.data, advice: 'restore a backup' },
  ERR_LEDGER_VERSION: { exitCode: ExitCode.data },
  ERR_WAL_BLOB: { exitCode: ExitCode.data },
  ERR_WAL_CORRUPT: { exitCode: ExitCode.data, advice: 'see troupe wal repair' },
  ERR_WAL_NETWORK: { exitCode: ExitCode.cannotCreate, advice: 'see --allow-network-fs' },
  ERR_WAL_OPTION: { exitCode: ExitCode.usage },
};

/** An error as one line and an exit code. An unforeseen error is 70, and its stack goes to the log. */
export function exitFailureOf(error: unknown): ExitFailure {
  if (!(error instanceof Error))
    return { code: 'ERR_INTERNAL', exitCode: ExitCode.internal, message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'ERR_INTERNAL';
  if (error instanceof CliError) return { code, exitCode: error.exitCode, message: oneLine(error.message) };
  const known = error instanceof StreamRefusedError ? STREAM_REFUSALS[error.status] : EXIT_CODES[code];
  const own = 'exitCode' in error && typeof error.exitCode === 'number' ? error.exitCode : undefined;
  const exitCode = known?.exitCode ?? own ?? ExitCode.internal;
  const advice = known?.advice === undefined ? '' : `; ${known.advice}`;
  return { code, exitCode, message: `${oneLine(error.message)}${advice}` };
}

function oneLine(text: string): string {
  return escapeControlCharacters(text.replaceAll(/\s*\n\s*/g, ' ').trim());
}
