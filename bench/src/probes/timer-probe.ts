import { quantile } from '../stats/quantile.js';

export interface Lateness {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly count: number;
}

export function lateness(values: readonly number[]): Lateness {
  return {
    p50: quantile(values, 0.5),
    p99: quantile(values, 0.99),
    max: quantile(values, 1),
    count: values.length,
  };
}

/** Measures the lateness of a repeated timer on this event loop until it is stopped. */
export class TimerProbe {
  private readonly late: number[] = [];
  private readonly everyMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(everyMs = 10) {
    this.everyMs = everyMs;
    this.arm();
  }

  private arm(): void {
    const armed = performance.now();
    this.timer = setTimeout(() => {
      // Node rounds timers down to whole milliseconds: they may fire slightly early.
      this.late.push(Math.max(0, performance.now() - armed - this.everyMs));
      this.arm();
    }, this.everyMs);
  }

  stop(): Lateness {
    clearTimeout(this.timer);
    return lateness(this.late);
  }
}
