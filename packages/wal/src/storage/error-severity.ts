import { errnoOf, WalClosedError, WalDiskLowError } from '../wal-error.js';

/** These end after a while; the segment being written was allocated before and still has its room. */
const RESOURCE_ERRNOS = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** True for a lack of space or of file handles. */
export function isShortage(error: Error): boolean {
  const errno = errnoOf(error);
  return error instanceof WalDiskLowError || (errno !== undefined && RESOURCE_ERRNOS.has(errno));
}

/** True for an error after which the content of the disk is unknown: the log must end. */
export function isFatal(error: Error): boolean {
  return !isShortage(error) && !(error instanceof WalClosedError);
}
