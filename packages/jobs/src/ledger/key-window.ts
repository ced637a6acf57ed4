/** The job of an idempotency key. */
export interface KeyEntry {
  readonly key: string;
  readonly job: number;
  readonly hash: number;
  readonly expiresAt: number;
}

/** An entry in the list of all, by age. */
interface ListedKey extends KeyEntry {
  earlier: ListedKey | undefined;
  later: ListedKey | undefined;
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

/** The scope of a request to run a schedule: its client, whatever the schedule submits. No exec is ''. */
export function requestKey(client: string, key: string): string {
  return windowKey(client, '', key);
}

/** A map that grows is copied at once: a million keys in one would hold the event loop for 100 ms. */
const SHARDS = 64;

/** The expiry of a key that is held: none, as a number that JSON has. */
const HELD = Number.MAX_SAFE_INTEGER;

/**
 * Idempotency keys, each kept for the same time unless it is freed, or held until it is released. The caller
 * bounds their number.
 */
export class KeyWindow {
  size = 0;
  private readonly shards = Array.from({ length: SHARDS }, () => new Map<string, ListedKey>());
  private oldest: ListedKey | undefined = undefined;
  private newest: ListedKey | undefined = undefined;
  /** They are in no order: none of them expires. */
  private readonly held = new Set<ListedKey>();
  private readonly counts = new Map<string, number>();

  /** When the oldest key expires, or Infinity. */
  get nextAt(): number {
    return this.oldest?.expiresAt ?? Number.POSITIVE_INFINITY;
  }

  /** Keys of one identity; 0 for the empty one, whose clients share the whole window. */
  countOf(identity: string): number {
    return this.counts.get(identity) ?? 0;
  }

  get(key: string): KeyEntry | undefined {
    return this.shardOf(key).get(key);
  }

  add({ key, job, hash, expiresAt }: KeyEntry): void {
    const shard = this.shardOf(key);
    const replaced = shard.get(key);
    if (replaced !== undefined) this.remove(replaced);
    const entry: ListedKey = { key, job, hash, expiresAt, earlier: undefined, later: undefined };
    if (expiresAt === HELD) this.held.add(entry);
    else this.list(entry);
    shard.set(key, entry);
    this.size += 1;
    this.count(key, 1);
  }

  /** A key that does not expire before `release`. */
  hold(entry: Omit<KeyEntry, 'expiresAt'>): void {
    this.add({ ...entry, expiresAt: HELD });
  }

  isHeld(key: string): boolean {
    return this.get(key)?.expiresAt === HELD;
  }

  /** It expires as any other from now on. Another key stays as it is. */
  release(key: string, expiresAt: number): void {
    const entry = this.get(key);
    if (entry?.expiresAt === HELD) this.add({ ...entry, expiresAt });
  }

  /** Frees the key of this job, unless it belongs to another job by now, or is held. */
  free(key: string, job: number): void {
    const entry = this.shardOf(key).get(key);
    if (entry?.job === job && !this.held.has(entry)) this.remove(entry);
  }

  /**
   * Entries are in the order of their age: the window is the same for all, and the ledger's time never goes
   * back.
   */
  expire(now: number, expiriesMax: number): void {
    for (let left = expiriesMax; left > 0; left -= 1) {
      const { oldest } = this;
      if (oldest === undefined || oldest.expiresAt > now) return;
      this.remove(oldest);
    }
  }

  /** The oldest first, held ones last: a version that holds none takes them for the latest. */
  *entries(): Generator<KeyEntry> {
    for (let entry = this.oldest; entry !== undefined; entry = entry.later) yield entry;
    yield* this.held;
  }

  private list(entry: ListedKey): void {
    entry.earlier = this.newest;
    if (this.newest === undefined) this.oldest = entry;
    else this.newest.later = entry;
    this.newest = entry;
  }

  private remove(entry: ListedKey): void {
    const { key } = entry;
    if (!this.held.delete(entry)) this.unlist(entry);
    this.shardOf(key).delete(key);
    this.size -= 1;
    this.count(key, -1);
  }

  private unlist({ earlier, later }: ListedKey): void {
    if (earlier === undefined) this.oldest = later;
    else earlier.later = later;
    if (later === undefined) this.newest = earlier;
    else later.earlier = earlier;
  }

  private count(key: string, change: number): void {
    const end = key.indexOf('\n');
    if (end < 0) return;
    const identity = key.slice(0, end);
    const count = (this.counts.get(identity) ?? 0) + change;
    if (count === 0) this.counts.delete(identity);
    else this.counts.set(identity, count);
  }

  private shardOf(key: string): Map<string, ListedKey> {
    let hash = 0x811c9dc5;
    for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
    return this.shards[(hash ^ (hash >>> 16)) & (SHARDS - 1)] as Map<string, ListedKey>;
  }
}
