import type { LogCondition } from '@troupe/wal';

export interface DiskRefusal {
  readonly code: 'ERR_DISK_LOW' | 'ERR_DISK_SLOW';
  readonly problem: string;
}

/** Why new work is refused; undefined: the disk of the log is well. */
export function diskRefusalOf({ disk, reason }: LogCondition): DiskRefusal | undefined {
  if (disk === 'ok') return undefined;
  const detail = reason === undefined ? '' : `: ${reason}`;
  return disk === 'low'
    ? { code: 'ERR_DISK_LOW', problem: `the disk is nearly full${detail}` }
    : { code: 'ERR_DISK_SLOW', problem: `the disk answers too slowly${detail}` };
}
