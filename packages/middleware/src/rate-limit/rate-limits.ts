import { OptionError } from '@troupe/core';
import { LRUMap } from 'mnemonist';
import { type Rate, TokenBucket } from './token-bucket.js';

/** The buckets of one limit: one for all, or one per actor or key. */
export class Limit {
  triggered = 0;
  consumed = 0;
  readonly rate: Rate;
  readonly keysMax: number;
  private readonly buckets: LRUMap<string, TokenBucket>;
  private shared: TokenBucket | undefined = undefined;

  constructor(rate: Rate, keysMax: number) {
    this.rate = rate;
    this.keysMax = keysMax;
    this.buckets = new LRUMap(keysMax);
  }

  /** The one bucket of a limit that is not per actor or key. */
  bucketOfAll(now: number): TokenBucket {
    this.shared ??= new TokenBucket(now);
    return this.shared;
  }

  /** Beyond `keysMax` the bucket not used for longest is forgotten, which can only give tokens too many. */
  bucketOf(key: string, now: number): TokenBucket {
    let bucket = this.buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket(now);
      this.buckets.set(key, bucket);
    }
    return bucket;
  }
}

/** Limits by name: whoever names the same limit shares its tokens (E16). A name is free again when nobody uses it. */
export class RateLimits {
  private readonly byName = new Map<string, WeakRef<Limit>>();
  private readonly unused = new FinalizationRegistry<string>((name) => {
    if (this.byName.get(name)?.deref() === undefined) this.byName.delete(name);
  });

  /** Refuses a name that is in use with other numbers: one of the two callers would be wrong about its limit. */
  limit(name: string, rate: Rate, keysMax: number): Limit {
    const known = this.byName.get(name)?.deref();
    if (known === undefined) {
      const limit = new Limit(rate, keysMax);
      this.byName.set(name, new WeakRef(limit));
      this.unused.register(limit, name);
      return limit;
    }
    const same =
      known.rate.msPerToken === rate.msPerToken &&
      known.rate.burst === rate.burst &&
      known.keysMax === keysMax;
    if (!same) {
      const { msPerToken, burst } = known.rate;
      const needed = `this name has ${1_000 / msPerToken} per second, burst ${burst}, keysMax ${known.keysMax}: choose another name or the same numbers`;
      throw new OptionError('rateLimit.name', name, needed);
    }
    return known;
  }
}
