import { WalClosedError } from '../wal-error.js';
import { DiskSpace } from './disk-space.js';

/** After such an error of work beside the hot path nobody knows what is on the disk: the log must end. */
export function isFatal(error: Error): boolean {
  return !DiskSpace.isShortage(error) && !(error instanceof WalClosedError);
}
