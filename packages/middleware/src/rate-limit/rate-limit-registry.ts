import { OptionError } from '@troupe/core';
import { LRUMap } from 'mnemonist';
import { type Rate, TokenBucket } from './token-bucket.js';

/** The buckets of one rate limit: one for all messages, or one per actor or key. */
export class NamedLimit {
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

  /** The bucket of a limit that is not per actor or key. */
  sharedBucket(now: number): TokenBucket {
    this.shared ??= new TokenBucket(now);
    return this.shared;
  }

  /** Beyond `keysMax` the least recently used bucket is forgotten, which can only grant too many tokens. */
  bucketOf(key: string, now: number): TokenBucket {
    let bucket = this.buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket(now);
      this.buckets.set(key, bucket);
    }
    return bucket;
  }
}

/** Rate limits by name: users of the same name share its tokens. A name is freed with its last user. */
export class RateLimitRegistry {
  private readonly byName = new Map<string, WeakRef<NamedLimit>>();
  private readonly unused = new FinalizationRegistry<string>((name) => {
    if (this.byName.get(name)?.deref() === undefined) this.byName.delete(name);
  });

  /** Refuses a name that is in use with other numbers: one of the two callers would get the wrong limit. */
  limit(name: string, rate: Rate, keysMax: number): NamedLimit {
    const known = this.byName.get(name)?.deref();
    if (known === undefined) {
      const limit = new NamedLimit(rate, keysMax);
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
