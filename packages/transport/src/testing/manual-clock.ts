import { SeededRandom } from '@troupe/core/testing';
import type { Clock } from '../net/clock.js';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** Time that moves with `advance` only. Timers of the same instant run in the order they were set. */
export class ManualClock implements Clock {
  private readonly seeded: SeededRandom;
  private time = 0;
  private order = 0;
  private timers: Timer[] = [];
  private callbacks: (() => void)[] = [];

  constructor(seed = 1) {
    this.seeded = new SeededRandom(seed);
  }

  now(): number {
    return this.time;
  }

  random(): number {
    return this.seeded.next();
  }

  setTimer(ms: number, run: () => void): { cancel(): void } {
    this.order += 1;
    const timer: Timer = { at: this.time + Math.max(ms, 0), order: this.order, run };
    let at = this.timers.length;
    while (at > 0 && (this.timers[at - 1] as Timer).at > timer.at) at -= 1; // at > 0
    this.timers.splice(at, 0, timer);
    return {
      cancel: () => {
        const found = this.timers.indexOf(timer);
        if (found >= 0) this.timers.splice(found, 1);
      },
    };
  }

  soon(run: () => void): void {
    this.callbacks.push(run);
  }

  /** Timers that have not run yet. */
  get pending(): number {
    return this.timers.length;
  }

  /** Runs all timers due within the next `ms`, each followed by the callbacks of `soon`. */
  advance(ms: number): void {
    const until = this.time + ms;
    this.runCallbacks();
    for (let next = this.timers[0]; next !== undefined && next.at <= until; next = this.timers[0]) {
      this.timers.shift();
      this.time = next.at;
      next.run();
      this.runCallbacks();
    }
    this.time = until;
  }

  private runCallbacks(): void {
    while (this.callbacks.length > 0) {
      const due = this.callbacks;
      this.callbacks = [];
      for (const run of due) run();
    }
  }
}
