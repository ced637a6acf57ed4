// One base class, one stable code per class, and the exit code where the process has to end.

import { keepClassNames } from '@troupe/core/class-names';
import type { ContentFormat } from './format/content-format.js';

export abstract class WalError extends Error {
  abstract readonly code: string;
  /** Exit code for a process that cannot work without this log; undefined where it need not end. */
  readonly exitCode: number | undefined = undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Where damage was found, and which records it may affect. */
export interface Damage {
  readonly file: string;
  readonly offset: number;
  /** First LSN that cannot be trusted; undefined when no record is affected (a snapshot, a manifest). */
  readonly firstLsn?: number | undefined;
  /** Last LSN known to have been written at or after the damage; undefined when it is unknown. */
  readonly lastLsn?: number | undefined;
  readonly reason: string;
}

/** Bytes that may have been acknowledged cannot be read back. The log does not open and changes nothing. */
export class WalCorruptError extends WalError {
  override readonly code = 'ERR_WAL_CORRUPT';
  override readonly exitCode = 65;
  readonly damage: Damage;

  constructor(damage: Damage, options?: ErrorOptions) {
    const first = damage.firstLsn === undefined ? '' : `, records from lsn ${damage.firstLsn}`;
    const last = damage.lastLsn === undefined ? '' : ` to ${damage.lastLsn}`;
    super(
      `${damage.file}: damaged at byte ${damage.offset}${first}${last}: ${damage.reason}; restore a backup, or run repair with acceptLoss`,
      options,
    );
    this.damage = damage;
  }
}

export class WalVersionError extends WalError {
  override readonly code = 'ERR_WAL_VERSION';
  override readonly exitCode = 65;

  constructor(file: string, found: string, readable: string) {
    super(`${file}: format ${found}, this version reads ${readable}; nothing was changed`);
  }
}

/** The records are of another application, or of a version of it that this one cannot read. */
export class WalContentError extends WalError {
  override readonly code = 'ERR_WAL_CONTENT';
  override readonly exitCode = 65;
  readonly found: ContentFormat | undefined;
  readonly readable: ContentFormat;

  constructor(found: ContentFormat | undefined, readable: ContentFormat) {
    const what = found === undefined ? 'no format' : `format ${contentText(found)} (since ${found.since})`;
    super(
      `STORE: the records have ${what}, this program reads ${contentText(readable)}; open it with the program and version that wrote it, nothing was changed`,
    );
    this.found = found;
    this.readable = readable;
  }
}

function contentText({ name, major, minor }: ContentFormat): string {
  return `${name} ${major}.${minor}`;
}

export class WalLockedError extends WalError {
  override readonly code = 'ERR_WAL_LOCKED';
  override readonly exitCode = 73;
  readonly owner: string;

  constructor(owner: string) {
    super(`LOCK: the directory is held by ${owner}; stop that process or use another directory`);
    this.owner = owner;
  }
}

export class WalFencedError extends WalError {
  override readonly code = 'ERR_WAL_FENCED';
  override readonly exitCode = 73;

  constructor(own: number, found: number | undefined) {
    super(
      `EPOCH: the epoch is ${found ?? 'unreadable'}, ours was ${own}: another process has opened this directory; run one process on it`,
    );
  }
}

/** The log's directory is on a network file system, where a second writer cannot be kept out. */
export class WalNetworkError extends WalError {
  override readonly code = 'ERR_WAL_NETWORK';
  override readonly exitCode = 73;

  constructor(fileSystem: string) {
    super(
      `directory: it is on a network file system (${fileSystem}), where neither locks nor syncs can be relied on; use a local disk, or allowNetworkFs`,
    );
  }
}

/** There is too little space to open the log. Nothing acknowledged is lost. */
export class WalDiskFullError extends WalError {
  override readonly code = 'ERR_WAL_DISK_FULL';
  override readonly exitCode = 75;
  readonly errno: string | undefined;

  constructor(neededBytes: number, cause: unknown) {
    const errno = errnoOf(cause);
    super(
      `opening the log: no space on the disk (${errno ?? String(cause)}); free at least ${neededBytes} bytes and open it again, nothing acknowledged is lost`,
      { cause },
    );
    this.errno = errno;
  }
}

/** The log's directory cannot be created, or no file can be created in it. */
export class WalDirectoryError extends WalError {
  override readonly code = 'ERR_WAL_DIRECTORY';
  override readonly exitCode = 73;
  readonly directory: string;

  constructor(directory: string, errno: string, cause: unknown) {
    super(
      `directory ${directory}: cannot be created or written to (${errno}); name another, or change its permissions`,
      {
        cause,
      },
    );
    this.directory = directory;
  }
}

/** The disk failed while the log was open. No batch in flight was acknowledged; the process must end. */
export class WalIoError extends WalError {
  override readonly code = 'ERR_WAL_IO';
  override readonly exitCode = 74;
  readonly errno: string | undefined;

  constructor(during: string, cause: unknown) {
    const errno = errnoOf(cause);
    super(`${during}: ${errno ?? String(cause)}; nothing after the last acknowledged record is certain`, {
      cause,
    });
    this.errno = errno;
  }
}

export class WalDiskLowError extends WalError {
  override readonly code = 'ERR_WAL_DISK_LOW';
  /** With figures, or the code of the system. */
  readonly reason: string;

  /** `errno`: of the call that failed, where free space is not known. */
  constructor(freeBytes: number | undefined, neededBytes: number, errno = 'not known') {
    const reason =
      freeBytes === undefined
        ? `no room for ${neededBytes} bytes (${errno})`
        : `${freeBytes} bytes free, ${neededBytes} needed`;
    super(`disk low: ${reason}; retry after space was freed`);
    this.reason = reason;
  }
}

export class WalDiskSlowError extends WalError {
  override readonly code = 'ERR_WAL_DISK_SLOW';

  readonly reason: string;

  constructor(waitedMs: number) {
    const reason = `a sync has been running for ${Math.round(waitedMs)} ms`;
    super(`disk slow: ${reason}; retry later`);
    this.reason = reason;
  }
}

export class WalClosedError extends WalError {
  override readonly code = 'ERR_WAL_CLOSED';

  constructor(state: string) {
    super(`the log is ${state}; open it again to append`);
  }
}

export class WalRecordTooLargeError extends WalError {
  override readonly code = 'ERR_WAL_RECORD_TOO_LARGE';

  constructor(bytes: number, bytesMax: number) {
    super(`record: ${bytes} bytes, at most ${bytesMax} fit in one batch; append fewer at once or use a blob`);
  }
}

export class WalTrimmedError extends WalError {
  override readonly code = 'ERR_WAL_TRIMMED';

  constructor(wanted: number, firstLsn: number) {
    super(`replay from lsn ${wanted}: the log begins at ${firstLsn}; start from the snapshot`);
  }
}

export class WalBlobError extends WalError {
  override readonly code = 'ERR_WAL_BLOB';
  readonly sha256: string;

  constructor(sha256: string, reason: string, options?: ErrorOptions) {
    super(`blobs/${sha256}: ${reason}; only the record that refers to it is affected`, options);
    this.sha256 = sha256;
  }
}

export class WalSnapshotError extends WalError {
  override readonly code = 'ERR_WAL_SNAPSHOT';

  constructor(reason: string, options?: ErrorOptions) {
    super(`snapshot: ${reason}; the log continues without it`, options);
  }
}

export class WalCopyError extends WalError {
  override readonly code = 'ERR_WAL_COPY';

  constructor(tries: number) {
    super(
      `copy: the log removed files in each of ${tries} tries before they were copied; try again when it is less busy`,
    );
  }
}

export class WalOptionError extends WalError {
  override readonly code = 'ERR_WAL_OPTION';

  constructor(option: string, value: unknown, problem: string) {
    super(`option ${option}: ${problem}, got ${String(value)}`);
  }
}

export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

keepClassNames({
  WalBlobError,
  WalClosedError,
  WalContentError,
  WalCopyError,
  WalCorruptError,
  WalDirectoryError,
  WalDiskFullError,
  WalDiskLowError,
  WalDiskSlowError,
  WalError,
  WalFencedError,
  WalIoError,
  WalLockedError,
  WalNetworkError,
  WalOptionError,
  WalRecordTooLargeError,
  WalSnapshotError,
  WalTrimmedError,
  WalVersionError,
});
