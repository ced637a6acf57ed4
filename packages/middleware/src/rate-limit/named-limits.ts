import { OptionError } from '@troupe/core';
import { LimitBuckets } from './limit-buckets.js';
import type { Rate } from './token-bucket.js';

/** Rate limits by name: users of the same name share its tokens. A name is freed with its last user. */
export class NamedLimits {
  private readonly byName = new Map<string, WeakRef<LimitBuckets>>();
  private readonly unused = new FinalizationRegistry<string>((name) => {
    if (this.byName.get(name)?.deref() === undefined) this.byName.delete(name);
  });

  /** Refuses a name that is in use with other numbers: one of the two callers would get the wrong limit. */
  limit(name: string, rate: Rate, keysMax: number): LimitBuckets {
    const known = this.byName.get(name)?.deref();
    if (known === undefined) {
      const limit = new LimitBuckets(rate, keysMax);
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
