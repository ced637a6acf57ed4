// Time that stands still until it is moved, for logs that run on a simulated disk.

import type { WalHost } from '../host/host.js';
import { SeededRandom } from './seeded-random.js';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export class ManualHost implements WalHost {
  /** Codes the log wanted to end the process with. */
  readonly exits: number[] = [];
  private readonly generator: SeededRandom;
  private time = 0;
  private deferred: (() => void)[] = [];
  private readonly timers = new Set<Timer>();

  constructor(seed = 1) {
    this.generator = new SeededRandom(seed);
  }

  now(): number {
    return this.time;
  }

  wallNow(): number {
    return 1_700_000_000_000 + this.time;
  }

  random(): number {
    return this.generator.next();
  }

  setTimer(ms: number, run: () => void): unknown {
    const timer: Timer = { at: this.time + ms, run };
    this.timers.add(timer);
    return timer;
  }

  clearTimer(timer: unknown): void {
    this.timers.delete(timer as Timer);
  }

  defer(run: () => void): void {
    this.deferred.push(run);
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  /** The process is gone, and with it everything that was due. */
  forget(): void {
    this.deferred = [];
    this.timers.clear();
  }

  /** Runs what was deferred; returns how many. */
  run(): number {
    const due = this.deferred;
    this.deferred = [];
    for (const run of due) run();
    return due.length;
  }

  /** Moves time to the next timer and runs it; if there is none within `withinMs`, moves it by that and returns false. */
  advance(withinMs: number): boolean {
    let next: Timer | undefined;
    for (const timer of this.timers) if (next === undefined || timer.at < next.at) next = timer;
    if (next === undefined || next.at > this.time + withinMs) {
      this.time += withinMs;
      return false;
    }
    this.timers.delete(next);
    this.time = Math.max(this.time, next.at);
    next.run();
    return true;
  }
}
