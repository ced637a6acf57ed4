import type { MessageView, Middleware, Outcome, RetryRequest } from '@troupe/core';
import { type Figure, type Measured, messageCounter } from '../figure.js';
import { aFunction, aName, atLeast, onlyKnown, share, whole } from '../option-check.js';

export interface RetryOptions {
  readonly name?: string;
  /** Tries altogether, the first included. Default 6. */
  readonly attempts?: number;
  /** Before the second try. Default 100. */
  readonly fromMs?: number;
  /** The waiting time doubles up to here and then stays. Default 10,000. */
  readonly toMs?: number;
  /** Each waiting time is changed by up to this share of itself, up or down. Default 0.2. */
  readonly jitter?: number;
  /** Which errors are worth another try. Default: all but those with `retryable: false`. */
  readonly when?: (error: Error) => boolean;
  /** A number from 0 up to, not including, 1. */
  readonly random?: () => number;
}

export interface Retry extends Middleware, Measured {
  readonly retried: number;
  readonly exhausted: number;
}

/**
 * Runs a handler that failed again, if its definition lists it as `retryable`. The message stays at the head of the
 * mailbox meanwhile, so order is kept; the actor is suspended and its state is the one the failed try left behind.
 */
export function retry(options: RetryOptions = {}): Retry {
  onlyKnown('retry', options, ['name', 'attempts', 'fromMs', 'toMs', 'jitter', 'when', 'random']);
  return new Retries(options);
}

class Retries implements Retry {
  retried = 0;
  exhausted = 0;
  readonly name: string;
  readonly figures: readonly Figure[];
  private readonly attempts: number;
  private readonly fromMs: number;
  private readonly toMs: number;
  private readonly jitter: number;
  private readonly when: (error: Error) => boolean;
  private readonly random: () => number;

  constructor(options: RetryOptions) {
    const { when = isWorthwhile, random = Math.random } = options;
    this.name = aName('retry.name', options.name ?? 'retry');
    this.attempts = whole('retry.attempts', options.attempts ?? 6, 1);
    this.fromMs = atLeast('retry.fromMs', options.fromMs ?? 100, 0);
    this.toMs = atLeast('retry.toMs', options.toMs ?? Math.max(10_000, this.fromMs), this.fromMs);
    this.jitter = share('retry.jitter', options.jitter ?? 0.2);
    this.when = aFunction('retry.when', when);
    this.random = aFunction('retry.random', random);
    this.figures = [
      messageCounter('troupe.retry.retried', this.name, 'Handlers run again.', () => this.retried),
      messageCounter(
        'troupe.retry.exhausted',
        this.name,
        'Messages given up after the last try.',
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

  /** Saturates before it is multiplied out, so that the thousandth try does not wait for an infinite time. */
  private delayAfter(retries: number): number {
    const doubled = this.fromMs * 2 ** Math.min(retries, 52);
    return Math.min(doubled, this.toMs) * (1 + this.jitter * (2 * this.random() - 1));
  }
}

function isWorthwhile(error: Error): boolean {
  return (error as { readonly retryable?: unknown }).retryable !== false;
}
