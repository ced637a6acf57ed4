import { WalVersionError } from '../wal-error.js';

export const FORMAT_MAJOR = 1;
export const FORMAT_MINOR = 0;

export function assertReadable(file: string, major: number, minor: number): void {
  if (major !== FORMAT_MAJOR) throw new WalVersionError(file, `${major}.${minor}`, `${FORMAT_MAJOR}.x`);
}
