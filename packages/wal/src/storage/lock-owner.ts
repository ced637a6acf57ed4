// The content of LOCK: the process that owns the directory, and whether it can still be alive. Pure; the
// caller looks up the processes.

export interface LockOwner {
  readonly pid: number;
  /** Changes at every boot of the machine; empty where it is unknown. */
  readonly bootId: string;
  /** Start of the process in ticks since boot, against reused pids. Empty where it is unknown. */
  readonly startedAt: string;
  readonly nonce: string;
}

/** `found` is the process that runs under the owner's pid now; undefined if there is none. */
export function isOwnerAlive(
  owner: LockOwner,
  bootId: string,
  found: { readonly startedAt: string } | undefined,
): boolean {
  if (owner.bootId !== bootId || found === undefined) return false;
  return owner.startedAt === '' || found.startedAt === '' || owner.startedAt === found.startedAt;
}

/** Undefined for any other content: the writer died before it owned the directory. */
export function parseLockFile(text: string): LockOwner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { pid, bootId, startedAt, nonce } = value as Partial<LockOwner>;
    if (typeof pid !== 'number' || typeof bootId !== 'string' || typeof startedAt !== 'string')
      return undefined;
    return typeof nonce === 'string' ? { pid, bootId, startedAt, nonce } : undefined;
  } catch {
    return undefined;
  }
}
