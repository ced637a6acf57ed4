import type { MessageView, Middleware, Outcome, RetryRequest } from '@troupe/core';
import { callback, checkOption, checkOptions, name, number, wholeNumber } from '@troupe/core/option-check';
import { type Metric, type MetricSource, messageCounter } from '../metric.js';

export interface RetryOptions {
  /** The name in metrics and errors. Default `retry`. */
  readonly name?: string | undefined;
  /** Runs of the handler, the first included. Default 6. */
  readonly attempts?: number | undefined;
  /** Delay before the second attempt. Default 100. */
  readonly fromMs?: number | undefined;
  /** The delay doubles up to this one. Default 10,000. */
  readonly toMs?: number | undefined;
  /** Each delay changes at random by up to this share of itself, up or down. Default 0.2. */
  readonly jitter?: number | undefined;
  /** Whether an error is retried. Default: all but errors with `retryable: false`. */
  readonly when?: ((error: Error) => boolean) | undefined;
  /** A random number from 0 up to, not including, 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

export interface Retry extends Middleware, MetricSource {
  readonly retried: number;
  readonly exhausted: number;
}

/**
 * Runs a failed handler again, if its definition lists it as `retryable`. The message stays at the head of
 * the mailbox meanwhile, so order is kept; the actor is suspended, and the next attempt sees the state that
 * the failed one left.
 */
export function retry(options: RetryOptions = {}): Retry {
  checkOptions('retry', options, {
    name,
    attempts: wholeNumber(1),
    fromMs: number(0),
    toMs: number(0),
    jitter: number(0, 1),
    when: callback,
    random: callback,
  });
  return new RetryMiddleware(options);
}

class RetryMiddleware implements Retry {
  retried = 0;
  exhausted = 0;
  readonly name: string;
  readonly metrics: readonly Metric[];
  private readonly attempts: number;
  private readonly fromMs: number;
  private readonly toMs: number;
  private readonly jitter: number;
  private readonly when: (error: Error) => boolean;
  private readonly random: () => number;

  constructor(options: RetryOptions) {
    this.name = options.name ?? 'retry';
    this.attempts = options.attempts ?? 6;
    this.fromMs = options.fromMs ?? 100;
    const toMs = options.toMs ?? Math.max(10_000, this.fromMs);
    this.toMs = checkOption('retry.toMs', toMs, number(this.fromMs));
    this.jitter = options.jitter ?? 0.2;
    this.when = options.when ?? isRetryable;
    this.random = options.random ?? Math.random;
    this.metrics = [
      messageCounter('troupe.retry.retried', this.name, 'Handlers run again.', () => this.retried),
      messageCounter(
        'troupe.retry.exhausted',
        this.name,
        'Messages that failed in their last attempt.',
        () => this.exhausted,
      ),
    ];
  }

  readonly timesHandlers = false;
  readonly outcomes = ['failed'] as const;

  readonly afterMessage = (message: MessageView, outcome: Outcome): RetryRequest | undefined => {
    if (outcome.kind !== 'failed' || !message.retryable || !this.when(outcome.error)) return undefined;
    if (message.retries + 1 >= this.attempts) {
      this.exhausted += 1;
      return undefined;
    }
    this.retried += 1;
    return { retryAfterMs: this.delayAfter(message.retries) };
  };

  /** The exponent is bounded, so that the delay of the thousandth attempt is not infinite. */
  private delayAfter(retries: number): number {
    const doubled = this.fromMs * 2 ** Math.min(retries, 52);
    return Math.min(doubled, this.toMs) * (1 + this.jitter * (2 * this.random() - 1));
  }
}

function isRetryable(error: Error): boolean {
  return (error as { readonly retryable?: unknown }).retryable !== false;
}
