// Who holds a directory, and whether that holder can still be alive. Pure; the caller looks up the processes.

export interface LockOwner {
  readonly pid: number;
  /** Changes at every boot of the machine; empty where it cannot be told. */
  readonly bootId: string;
  /** When the process started, in ticks since boot; tells a reused pid from the holder. Empty where it cannot be told. */
  readonly startedAt: string;
  readonly nonce: string;
}

/** `found` is what is running under that pid now; undefined if nothing is. */
export function isOwnerAlive(
  owner: LockOwner,
  bootId: string,
  found: { readonly startedAt: string } | undefined,
): boolean {
  if (owner.bootId !== bootId || found === undefined) return false;
  return owner.startedAt === '' || found.startedAt === '' || owner.startedAt === found.startedAt;
}

/** Undefined for a file that is no holder: a process died while writing it, so nobody can be relying on it. */
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
