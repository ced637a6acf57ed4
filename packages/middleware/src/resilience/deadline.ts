import type { MessageView, Middleware, Verdict } from '@troupe/core';
import { type Figure, type Measured, messageCounter } from '../figure.js';
import { aName, atLeast, onlyKnown } from '../option-check.js';

export interface DeadlineOptions {
  readonly name?: string;
  /** A message that waited longer is late, whoever sent it. Without it only the deadlines of asks count. */
  readonly withinMs?: number;
  /** What the handler needs: a message with less time left is refused at once. Default 0. */
  readonly leastMs?: number;
}

export interface Deadline extends Middleware, Measured {
  readonly refused: number;
}

/** Refuses what is already late, or would be before the handler could finish it: nobody waits for the result. */
export function deadline(options: DeadlineOptions = {}): Deadline {
  onlyKnown('deadline', options, ['name', 'withinMs', 'leastMs']);
  const { withinMs } = options;
  if (withinMs !== undefined) atLeast('deadline.withinMs', withinMs, 0);
  const leastMs = atLeast('deadline.leastMs', options.leastMs ?? 0, 0);
  const guard = new DeadlineGuard(aName('deadline.name', options.name ?? 'deadline'), leastMs);
  if (withinMs === undefined) return guard;
  return Object.assign(guard, {
    // The context of a message is the moment after which it is late.
    onSend: (send: { readonly now: number }): number => send.now + withinMs,
  });
}

class DeadlineGuard implements Deadline {
  refused = 0;
  readonly name: string;
  readonly figures: readonly Figure[];
  private readonly leastMs: number;

  constructor(name: string, leastMs: number) {
    this.name = name;
    this.leastMs = leastMs;
    const about = 'Messages refused because they were late.';
    this.figures = [messageCounter('troupe.deadline.refused', name, about, () => this.refused)];
  }

  readonly beforeMessage = (message: MessageView): Verdict | undefined => {
    const lateAt = message.context as number | undefined;
    const left = Math.min(
      message.remainingMs,
      lateAt === undefined ? Number.POSITIVE_INFINITY : lateAt - message.now,
    );
    if (left > 0 && left >= this.leastMs) return undefined;
    this.refused += 1;
    const why = left <= 0 ? `late by ${shown(-left)} ms` : `${shown(left)} of ${this.leastMs} ms left`;
    return { verdict: 'refuse', why: `${this.name}: ${why}` };
  };
}

function shown(ms: number): string {
  return String(Math.round(ms * 10) / 10);
}
