import type { MessageView, Middleware, Verdict } from '@troupe/core';
import { checkOptions, listOf, name, numberAbove, oneOf, wholeNumber } from '@troupe/core/option-check';
import { type MessageScope, messageScope } from '../message-scope.js';
import { type Metric, type MetricSource, messageCounter } from '../metric.js';
import type { LimitBuckets } from './limit-buckets.js';
import { NamedLimits } from './named-limits.js';
import type { TokenBucket } from './token-bucket.js';

export interface RateLimitOptions {
  /** Rate limits with the same name and the same numbers share their tokens. */
  readonly name: string;
  /** Messages per second in the long run. */
  readonly perSecond: number;
  /** Messages at once after a pause. Default: the tokens of one second, at least 1. */
  readonly burst?: number | undefined;
  /**
   * One bucket for all (default), one per actor, or one per key; a message with the key undefined is not
   * limited.
   */
  readonly per?: MessageScope | undefined;
  /** Names of the messages that are limited. Default: all. */
  readonly messages?: readonly string[] | undefined;
  /**
   * Without a token: hold the message and its actor until there is one, or refuse the message. Default
   * `hold`.
   */
  readonly exceeded?: 'hold' | 'refuse' | undefined;
  /** Buckets remembered. Default 10,000. */
  readonly keysMax?: number | undefined;
}

export interface RateLimit extends Middleware, MetricSource {
  /** Times that a message found no token; a held message counts again each time it finds none. */
  readonly triggered: number;
  /** Tokens taken by messages that were handled or are being handled. */
  readonly consumed: number;
}

const processWide = new NamedLimits();

/**
 * Limits the messages per second that reach a handler. Names are shared within the process, or within the
 * given `limits`. Each message takes one token; a message that is not handled returns its token. A message
 * without a token stays at the head of its mailbox, and the actor is suspended for `rate-limit` until the
 * exact time of the next token.
 */
export function rateLimit(options: RateLimitOptions, limits: NamedLimits = processWide): RateLimit {
  const rules = {
    name,
    perSecond: numberAbove(0),
    burst: wholeNumber(1),
    per: messageScope,
    messages: listOf(name),
    exceeded: oneOf(['hold', 'refuse']),
    keysMax: wholeNumber(1),
  };
  checkOptions('rateLimit', options, rules, { required: ['name', 'perSecond'] });
  const { perSecond, burst = Math.max(1, Math.floor(perSecond)), keysMax = 10_000 } = options;
  const limit = limits.limit(options.name, { msPerToken: 1_000 / perSecond, burst }, keysMax);
  return new RateLimitMiddleware(options.name, limit, options);
}

class RateLimitMiddleware implements RateLimit {
  readonly name: string;
  readonly metrics: readonly Metric[];
  private readonly limit: LimitBuckets;
  private readonly per: MessageScope;
  private readonly messages: ReadonlySet<string> | undefined;
  private readonly refuses: boolean;

  constructor(name: string, limit: LimitBuckets, options: RateLimitOptions) {
    this.name = name;
    this.limit = limit;
    this.per = options.per ?? 'all';
    this.messages = options.messages === undefined ? undefined : new Set(options.messages);
    this.refuses = options.exceeded === 'refuse';
    const triggered = 'Messages that found no token.';
    const consumed = 'Tokens taken by messages that were handled.';
    this.metrics = [
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
    // An earlier time has fewer tokens, never more: the exact clock is read only if the coarse time has none.
    let ms = bucket.take(message.coarseNow, limit.rate);
    if (ms !== 0) {
      bucket.resetIfFromOtherClock(message.now, limit.rate);
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
   * A message that a later middleware held or refused was not handled and returns its token. No handler has
   * run, so the key of the message is unchanged; and the counters are not read between the two hooks.
   */
  readonly afterMessage = (message: MessageView): undefined => {
    const bucket = this.bucketOf(message);
    if (bucket === undefined) return;
    bucket.giveBack(this.limit.rate);
    this.limit.consumed -= 1;
  };

  private bucketOf(message: MessageView): TokenBucket | undefined {
    if (this.messages !== undefined && !this.messages.has(message.message)) return undefined;
    if (this.per === 'all') return this.limit.sharedBucket(message.coarseNow);
    const key = this.per === 'actor' ? message.path : this.per(message);
    return key === undefined ? undefined : this.limit.bucketOf(key, message.coarseNow);
  }
}
