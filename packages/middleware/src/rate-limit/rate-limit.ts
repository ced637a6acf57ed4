import { type MessageView, type Middleware, OptionError, type Verdict } from '@troupe/core';
import { type Figure, type Measured, messageCounter } from '../figure.js';
import { above, aName, oneOf, onlyKnown, whole } from '../option-check.js';
import { type Limit, RateLimits } from './rate-limits.js';
import type { TokenBucket } from './token-bucket.js';

export interface RateLimitOptions {
  /** Whoever uses the same name with the same numbers shares the tokens. */
  readonly name: string;
  /** Messages per second in the long run. */
  readonly perSecond: number;
  /** Messages at once after a rest. Default: one second's worth, at least 1. */
  readonly burst?: number;
  /** One bucket for all (default), one per actor, or one per key; a message with the key undefined is not limited. */
  readonly per?: 'all' | 'actor' | ((message: MessageView) => string | undefined);
  /** Message names that are limited. Default: all. */
  readonly messages?: readonly string[];
  /** Without a token: hold the message and the actor until there is one (default), or refuse the message. */
  readonly exceeded?: 'hold' | 'refuse';
  /** Buckets remembered. Default 10,000. */
  readonly keysMax?: number;
}

export interface RateLimit extends Middleware, Measured {
  /** Messages that found no token, each time they were looked at. */
  readonly triggered: number;
  /** Tokens taken by messages that were, or are being, handled. */
  readonly consumed: number;
}

const processWide = new RateLimits();

/**
 * At most so many messages per second reach a handler. Names are known in the whole process, or within the `limits` that
 * are given. One token per message; what is not handled gives its token back.
 * A message without a token stays at the head of its mailbox, and the actor is suspended for `rate-limit` until the
 * exact time at which there is one.
 */
export function rateLimit(options: RateLimitOptions, limits: RateLimits = processWide): RateLimit {
  onlyKnown('rateLimit', options, ['name', 'perSecond', 'burst', 'per', 'messages', 'exceeded', 'keysMax']);
  const name = aName('rateLimit.name', options.name);
  const perSecond = above('rateLimit.perSecond', options.perSecond, 0);
  const burst = whole('rateLimit.burst', options.burst ?? Math.max(1, Math.floor(perSecond)), 1);
  const keysMax = whole('rateLimit.keysMax', options.keysMax ?? 10_000, 1);
  const per = options.per ?? 'all';
  if (typeof per !== 'function') oneOf('rateLimit.per', per, ['all', 'actor']);
  oneOf('rateLimit.exceeded', options.exceeded ?? 'hold', ['hold', 'refuse']);
  if (options.messages !== undefined && !Array.isArray(options.messages))
    throw new OptionError('rateLimit.messages', options.messages, 'needed a list of message names');
  const limit = limits.limit(name, { msPerToken: 1_000 / perSecond, burst }, keysMax);
  return new RateLimiter(name, limit, options);
}

class RateLimiter implements RateLimit {
  readonly name: string;
  readonly figures: readonly Figure[];
  private readonly limit: Limit;
  private readonly per: NonNullable<RateLimitOptions['per']>;
  private readonly messages: ReadonlySet<string> | undefined;
  private readonly refuses: boolean;

  constructor(name: string, limit: Limit, options: RateLimitOptions) {
    this.name = name;
    this.limit = limit;
    this.per = options.per ?? 'all';
    this.messages = options.messages === undefined ? undefined : new Set(options.messages);
    this.refuses = options.exceeded === 'refuse';
    const triggered = 'Messages that found no token.';
    const consumed = 'Tokens taken by messages that were handled.';
    this.figures = [
      messageCounter('troupe.rate_limit.triggered', name, triggered, () => limit.triggered),
      messageCounter('troupe.rate_limit.consumed', name, consumed, () => limit.consumed),
    ];
  }

  get triggered(): number {
    return this.limit.triggered;
  }

  get consumed(): number {
    return this.limit.consumed;
  }

  readonly timesHandlers = false;
  readonly outcomes = ['held', 'refused'] as const;

  readonly beforeMessage = (message: MessageView): Verdict | undefined => {
    const bucket = this.bucketOf(message);
    if (bucket === undefined) return undefined;
    const { limit } = this;
    // At an earlier time there are fewer tokens, never more: the clock is read only if that time has none.
    let ms = bucket.take(message.coarseNow, limit.rate);
    if (ms !== 0) {
      bucket.keepTo(message.now, limit.rate);
      ms = bucket.take(message.now, limit.rate);
    }
    if (ms === 0) {
      limit.consumed += 1;
      return undefined;
    }
    limit.triggered += 1;
    if (this.refuses) return { verdict: 'refuse', why: `${this.name}: no token for another ${ms} ms` };
    return { verdict: 'hold', reason: 'rate-limit', resumeOn: { on: 'after', ms } };
  };

  /**
   * What a later middleware held or refused was not handled: it has consumed nothing (E13). No handler has seen it, so
   * its key is what it was; and no reader of the counters comes between the two hooks.
   */
  readonly afterMessage = (message: MessageView): undefined => {
    const bucket = this.bucketOf(message);
    if (bucket === undefined) return;
    bucket.giveBack(this.limit.rate);
    this.limit.consumed -= 1;
  };

  private bucketOf(message: MessageView): TokenBucket | undefined {
    if (this.messages !== undefined && !this.messages.has(message.message)) return undefined;
    if (this.per === 'all') return this.limit.bucketOfAll(message.coarseNow);
    const key = this.per === 'actor' ? message.path : this.per(message);
    return key === undefined ? undefined : this.limit.bucketOf(key, message.coarseNow);
  }
}
