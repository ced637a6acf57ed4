import { Ring } from '../collections/ring.js';

/** The job of an idempotency key. */
export interface KeyEntry {
  readonly key: string;
  readonly job: number;
  readonly hash: number;
  readonly expiresAt: number;
}

/**
 * The scope of a key: keys of different execs are independent, and so are keys of different identities. The
 * identity that a handshake has proved stands before the last slash of the client's name (ADR 0409); names
 * without one share their keys.
 */
export function windowKey(client: string, exec: string, key: string): string {
  const slash = client.lastIndexOf('/');
  return slash < 0 ? `${exec}/${key}` : `${client.slice(0, slash)}\n${exec}/${key}`;
}

/** Freed keys leave entries behind, at most as many as there are keys and this many. */
const FREED_MAX = 64;

/** Idempotency keys, each kept for the same time unless it is freed. The caller bounds their number. */
export class KeyWindow {
  private readonly byKey = new Map<string, KeyEntry>();
  private readonly byAge = new Ring<KeyEntry>();
  private readonly counts = new Map<string, number>();

  get size(): number {
    return this.byKey.size;
  }

  /** When the oldest key expires, or Infinity. */
  get nextAt(): number {
    return this.byAge.peek()?.expiresAt ?? Number.POSITIVE_INFINITY;
  }

  /** Keys of one identity; 0 for the empty one, whose clients share the whole window. */
  countOf(identity: string): number {
    return this.counts.get(identity) ?? 0;
  }

  get(key: string): KeyEntry | undefined {
    return this.byKey.get(key);
  }

  add(entry: KeyEntry): void {
    if (!this.byKey.has(entry.key)) this.count(entry.key, 1);
    this.byKey.set(entry.key, entry);
    this.byAge.push(entry);
  }

  /** Frees the key of this job, unless it belongs to another job by now. */
  free(key: string, job: number): void {
    if (this.byKey.get(key)?.job !== job) return;
    this.byKey.delete(key);
    this.count(key, -1);
    if (this.byAge.size > 2 * this.byKey.size + FREED_MAX)
      this.byAge.keep((entry) => this.byKey.get(entry.key) === entry);
  }

  /**
   * Entries are in the order of their age: the window is the same for all, and the ledger's time never goes
   * back.
   */
  expire(now: number, expiriesMax: number): void {
    for (let left = expiriesMax; left > 0; left -= 1) {
      const oldest = this.byAge.peek();
      if (oldest === undefined || oldest.expiresAt > now) return;
      this.byAge.shift();
      if (this.byKey.get(oldest.key) !== oldest) continue;
      this.byKey.delete(oldest.key);
      this.count(oldest.key, -1);
    }
  }

  private count(key: string, change: number): void {
    const end = key.indexOf('\n');
    if (end < 0) return;
    const identity = key.slice(0, end);
    const count = (this.counts.get(identity) ?? 0) + change;
    if (count === 0) this.counts.delete(identity);
    else this.counts.set(identity, count);
  }

  *entries(): Generator<KeyEntry> {
    for (let i = 0; i < this.byAge.size; i += 1) {
      const entry = this.byAge.at(i) as KeyEntry;
      if (this.byKey.get(entry.key) === entry) yield entry;
    }
  }
}
