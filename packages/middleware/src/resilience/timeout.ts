import { type Middleware, OptionError, type Outcome, type Verdict } from '@troupe/core';
import { type Figure, type Measured, messageCounter } from '../figure.js';
import { above, aName, onlyKnown } from '../option-check.js';

export interface TimeoutOptions {
  readonly name?: string;
  /** For every asynchronous handler that is not named in `messages`. */
  readonly withinMs?: number;
  /** By message name. */
  readonly messages?: Readonly<Record<string, number>>;
}

export interface Timeout extends Middleware, Measured {
  readonly timedOut: number;
}

/**
 * Gives asynchronous handlers a time limit: `ctx.abort` fires, and the handler has failed with ERR_HANDLER_TIMEOUT. One
 * that takes no notice of the signal runs on, but reaches nobody: it is not tried again, and its actor begins anew. A
 * synchronous handler cannot be stopped by anything on its own thread.
 */
export function timeout(options: TimeoutOptions): Timeout {
  onlyKnown('timeout', options, ['name', 'withinMs', 'messages']);
  const { withinMs, messages } = options;
  if (withinMs === undefined && messages === undefined)
    throw new OptionError('timeout', options, 'needed withinMs, messages or both');
  const byMessage = new Map<string, Verdict>();
  for (const [message, ms] of Object.entries(messages ?? {})) {
    byMessage.set(message, { verdict: 'continue', withinMs: above(`timeout.messages.${message}`, ms, 0) });
  }
  const fallback: Verdict | undefined =
    withinMs === undefined
      ? undefined
      : { verdict: 'continue', withinMs: above('timeout.withinMs', withinMs, 0) };
  return new TimeLimit(aName('timeout.name', options.name ?? 'timeout'), byMessage, fallback);
}

class TimeLimit implements Timeout {
  timedOut = 0;
  readonly name: string;
  readonly figures: readonly Figure[];
  private readonly byMessage: ReadonlyMap<string, Verdict>;
  private readonly fallback: Verdict | undefined;

  constructor(name: string, byMessage: ReadonlyMap<string, Verdict>, fallback: Verdict | undefined) {
    this.name = name;
    this.byMessage = byMessage;
    this.fallback = fallback;
    const about = 'Handlers that did not settle in time.';
    this.figures = [messageCounter('troupe.timeout.expired', name, about, () => this.timedOut)];
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
