/** The state of a log that its owner acts on or shows. Reported whenever it changes. */
export interface LogCondition {
  /** Unless `ok`, records that are not essential are refused. `slow`: a write has taken 30 seconds so far. */
  readonly disk: 'ok' | 'low' | 'slow';
  /** Why it is not `ok`, as it was when it became so. */
  readonly reason?: string | undefined;
  /** Bytes of the sealed segments in use. */
  readonly sealedBytes: number;
  /** Bytes that the opening cut. */
  readonly cutBytes: number;
  /** Snapshots that failed since the last one that was made. */
  readonly failedSnapshots: number;
  /** Segments in use. Absent: a log without segments. */
  readonly segments?: number | undefined;
  /** The newest snapshot. Absent: none. */
  readonly snapshot?: { readonly lsn: number; readonly bytes: number } | undefined;
  /** Space on the disk as it was last looked at. Absent: not known. */
  readonly freeBytes?: number | undefined;
}

export function isSameCondition(a: LogCondition, b: LogCondition): boolean {
  return (
    a.disk === b.disk &&
    a.sealedBytes === b.sealedBytes &&
    a.cutBytes === b.cutBytes &&
    a.failedSnapshots === b.failedSnapshots &&
    a.segments === b.segments &&
    a.snapshot?.lsn === b.snapshot?.lsn &&
    // The figure itself changes with every byte of other programs.
    (a.freeBytes === undefined) === (b.freeBytes === undefined)
  );
}
