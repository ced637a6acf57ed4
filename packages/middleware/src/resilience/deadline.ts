import type { CrossingView, MessageView, Middleware, Verdict } from '@troupe/core';
import { checkOptions, name, number } from '@troupe/core/option-check';
import { type Metric, type MetricSource, messageCounter } from '../metric.js';

export interface DeadlineOptions {
  /** The name in metrics and errors. Default `deadline`. */
  readonly name?: string | undefined;
  /** Deadline of every message, counted from its send. Default: only asks have a deadline, their own. */
  readonly withinMs?: number | undefined;
  /** The time a handler needs: a message with less time left is refused. Default 0. */
  readonly remainingMsMin?: number | undefined;
}

export interface Deadline extends Middleware, MetricSource {
  readonly refused: number;
}

/** Refuses messages that are past their deadline, or would be before the handler could finish. */
export function deadline(options: DeadlineOptions = {}): Deadline {
  checkOptions('deadline', options, { name, withinMs: number(0), remainingMsMin: number(0) });
  const { withinMs } = options;
  const middleware = new DeadlineMiddleware(options.name ?? 'deadline', options.remainingMsMin ?? 0);
  if (withinMs === undefined) return middleware;
  return Object.assign(middleware, {
    // The context of a message is its deadline.
    onSend: (send: { readonly now: number }): number => send.now + withinMs,
    // Every thread has a clock of its own: the time that is left crosses.
    packContext: (context: unknown, { now }: CrossingView): number => (context as number) - now,
    unpackContext: (left: unknown, { now }: CrossingView): number => now + (left as number),
  });
}

class DeadlineMiddleware implements Deadline {
  refused = 0;
  readonly name: string;
  readonly metrics: readonly Metric[];
  private readonly remainingMsMin: number;

  constructor(name: string, remainingMsMin: number) {
    this.name = name;
    this.remainingMsMin = remainingMsMin;
    const description = 'Messages refused because they were late.';
    this.metrics = [messageCounter('troupe.deadline.refused', name, description, () => this.refused)];
  }

  readonly beforeMessage = (message: MessageView): Verdict | undefined => {
    const deadlineAt = message.context as number | undefined;
    const left = Math.min(
      message.remainingMs,
      deadlineAt === undefined ? Number.POSITIVE_INFINITY : deadlineAt - message.now,
    );
    if (left > 0 && left >= this.remainingMsMin) return undefined;
    this.refused += 1;
    const why =
      left <= 0 ? `late by ${rounded(-left)} ms` : `${rounded(left)} of ${this.remainingMsMin} ms left`;
    return { verdict: 'refuse', why: `${this.name}: ${why}` };
  };
}

function rounded(ms: number): string {
  return String(Math.round(ms * 10) / 10);
}
