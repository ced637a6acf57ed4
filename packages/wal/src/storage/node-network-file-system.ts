import { statfs } from 'node:fs';
import type { Callback } from './storage.js';

/**
 * Network file systems by the type in statfs(2) of Linux. FUSE has one type for local and network file
 * systems, so it is not here.
 */
const NETWORK_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x01021997, '9p'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'afs'],
  [0x00c36400, 'ceph'],
  [0x73757245, 'coda'],
  [0x564c, 'ncp'],
  [0x0bd00bd0, 'lustre'],
  [0x47504653, 'gpfs'],
  [0x19830326, 'beegfs'],
  [0x786f4256, 'vboxsf'],
]);

/** Undefined for any other type. */
export function networkFileSystemName(type: number): string | undefined {
  // Node gives the type as a signed or an unsigned number, by version.
  return NETWORK_TYPES.get(type >>> 0);
}

export function findNetworkFileSystem(directory: string, done: Callback<string | undefined>): void {
  if (process.platform !== 'linux') {
    process.nextTick(done, null, undefined);
    return;
  }
  statfs(directory, (error, stats) =>
    done(error, error === null ? networkFileSystemName(stats.type) : undefined),
  );
}
