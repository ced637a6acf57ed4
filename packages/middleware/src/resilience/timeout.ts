import { type Middleware, OptionError, type Outcome, type Verdict } from '@troupe/core';
import { checkOption, checkOptions, name, numberAbove, object } from '@troupe/core/option-check';
import { type Metric, type MetricSource, messageCounter } from '../metric.js';

export interface TimeoutOptions {
  /** The name in metrics and errors. Default `timeout`. */
  readonly name?: string | undefined;
  /** Time limit of every asynchronous handler that is not named in `messages`. Default: none. */
  readonly withinMs?: number | undefined;
  /** Time limits in milliseconds, by message name. */
  readonly messages?: Readonly<Record<string, number>> | undefined;
}

export interface Timeout extends Middleware, MetricSource {
  readonly timedOut: number;
}

/**
 * A time limit for asynchronous handlers: `ctx.signal` fires, and the handler fails with ERR_HANDLER_TIMEOUT.
 * A handler that ignores the signal runs on without effect: it is not retried, and its actor restarts. A
 * synchronous handler cannot be interrupted on its own thread.
 */
export function timeout(options: TimeoutOptions): Timeout {
  checkOptions('timeout', options, { name, withinMs: numberAbove(0), messages: object });
  const { withinMs, messages } = options;
  if (withinMs === undefined && messages === undefined)
    throw new OptionError('timeout', options, 'needed withinMs, messages or both');
  const byMessage = new Map<string, Verdict>();
  for (const [message, ms] of Object.entries(messages ?? {})) {
    checkOption(`timeout.messages.${message}`, ms, numberAbove(0));
    byMessage.set(message, { verdict: 'continue', withinMs: ms });
  }
  const fallback: Verdict | undefined =
    withinMs === undefined ? undefined : { verdict: 'continue', withinMs };
  return new TimeoutMiddleware(options.name ?? 'timeout', byMessage, fallback);
}

class TimeoutMiddleware implements Timeout {
  timedOut = 0;
  readonly name: string;
  readonly metrics: readonly Metric[];
  private readonly byMessage: ReadonlyMap<string, Verdict>;
  private readonly fallback: Verdict | undefined;

  constructor(name: string, byMessage: ReadonlyMap<string, Verdict>, fallback: Verdict | undefined) {
    this.name = name;
    this.byMessage = byMessage;
    this.fallback = fallback;
    const description = 'Handlers that did not settle in time.';
    this.metrics = [messageCounter('troupe.timeout.expired', name, description, () => this.timedOut)];
  }

  readonly beforeMessage = (message: { readonly message: string }): Verdict | undefined =>
    this.byMessage.size === 0 ? this.fallback : (this.byMessage.get(message.message) ?? this.fallback);

  readonly timesHandlers = false;
  readonly outcomes = ['failed'] as const;

  readonly afterMessage = (_message: unknown, outcome: Outcome): undefined => {
    if (outcome.kind === 'failed' && (outcome.error as { code?: unknown }).code === 'ERR_HANDLER_TIMEOUT')
      this.timedOut += 1;
  };
}
