import type { Clock } from '../net/clock.js';
import { Chance } from './chance.js';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** Time that passes only when told to. Timers of the same instant run in the order they were set. */
export class ManualClock implements Clock {
  readonly #chance: Chance;
  #now = 0;
  #order = 0;
  #timers: Timer[] = [];
  #soon: (() => void)[] = [];

  constructor(seed = 1) {
    this.#chance = new Chance(seed);
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.#chance.next();
  }

  setTimer(ms: number, run: () => void): { cancel(): void } {
    this.#order += 1;
    const timer: Timer = { at: this.#now + Math.max(ms, 0), order: this.#order, run };
    let at = this.#timers.length;
    while (at > 0 && (this.#timers[at - 1] as Timer).at > timer.at) at -= 1; // at > 0
    this.#timers.splice(at, 0, timer);
    return {
      cancel: () => {
        const found = this.#timers.indexOf(timer);
        if (found >= 0) this.#timers.splice(found, 1);
      },
    };
  }

  soon(run: () => void): void {
    this.#soon.push(run);
  }

  /** Timers that are set and have not run. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Runs everything due within the next `ms`, in order, then stands there. */
  advance(ms: number): void {
    const until = this.#now + ms;
    this.#settle();
    for (let next = this.#timers[0]; next !== undefined && next.at <= until; next = this.#timers[0]) {
      this.#timers.shift();
      this.#now = next.at;
      next.run();
      this.#settle();
    }
    this.#now = until;
  }

  #settle(): void {
    while (this.#soon.length > 0) {
      const due = this.#soon;
      this.#soon = [];
      for (const run of due) run();
    }
  }
}
