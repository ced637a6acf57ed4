import { Ring } from '../queue/ring.js';

/** What an idempotency key stands for. */
export interface KeyEntry {
  readonly key: string;
  readonly job: number;
  readonly hash: number;
  readonly expiresAt: number;
}

/** Keys of different execs do not meet. */
export function windowKey(exec: string, key: string): string {
  return `${exec}/${key}`;
}

/** Idempotency keys for a fixed time. Bounded by its user, who refuses when it is full; it forgets only by age. */
export class KeyWindow {
  private readonly byKey = new Map<string, KeyEntry>();
  private readonly byAge = new Ring<KeyEntry>();

  get size(): number {
    return this.byKey.size;
  }

  /** When the oldest key goes, or Infinity. */
  get nextAt(): number {
    return this.byAge.peek()?.expiresAt ?? Number.POSITIVE_INFINITY;
  }

  get(key: string): KeyEntry | undefined {
    return this.byKey.get(key);
  }

  add(entry: KeyEntry): void {
    this.byKey.set(entry.key, entry);
    this.byAge.push(entry);
  }

  /** Ages are in order because the window is the same for all and the ledger's time never goes back. */
  expire(now: number): void {
    for (;;) {
      const oldest = this.byAge.peek();
      if (oldest === undefined || oldest.expiresAt > now) return;
      this.byAge.shift();
      if (this.byKey.get(oldest.key) === oldest) this.byKey.delete(oldest.key);
    }
  }

  *entries(): Generator<KeyEntry> {
    for (let i = 0; i < this.byAge.size; i += 1) {
      const entry = this.byAge.at(i) as KeyEntry;
      if (this.byKey.get(entry.key) === entry) yield entry;
    }
  }
}
