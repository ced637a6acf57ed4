import { LRUMap } from 'mnemonist';
import { type Rate, TokenBucket } from './token-bucket.js';

/** The buckets of one rate limit: one for all messages, or one per actor or key. */
export class LimitBuckets {
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
