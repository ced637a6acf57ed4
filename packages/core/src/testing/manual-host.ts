import type { Host, HostTimer, LogEntry } from '../host.js';
import { SeededRandom } from './seeded-random.js';

interface Armed {
  readonly due: number;
  readonly order: number;
  readonly run: () => void;
}

/** A host with a manual clock, seeded chance, and a log in memory. */
export class ManualHost implements Host {
  /** The log lines so far. */
  readonly logged: LogEntry[] = [];
  /** Reports of failed systems whose end no code has looked at. */
  readonly failedSystems: string[] = [];
  private time = 0;
  private order = 0;
  private readonly timers = new Set<Armed>();
  private callbacks: (() => void)[] = [];
  private readonly chance: SeededRandom;
  private readonly wallStart: number;

  constructor(options: { readonly seed?: number | undefined; readonly wallStart?: number | undefined } = {}) {
    this.chance = new SeededRandom(options.seed ?? 1);
    this.wallStart = options.wallStart ?? 1_750_000_000_000;
  }

  now(): number {
    return this.time;
  }

  wallNow(): number {
    return this.wallStart + this.time;
  }

  random(): number {
    return this.chance.next();
  }

  setTimer(ms: number, run: () => void): HostTimer {
    this.order += 1;
    const armed: Armed = { due: this.time + Math.max(0, ms), order: this.order, run };
    this.timers.add(armed);
    return { cancel: () => void this.timers.delete(armed), hold: () => undefined };
  }

  soon(run: () => void): void {
    this.callbacks.push(run);
  }

  later(run: () => void): void {
    this.callbacks.push(run);
  }

  log(entry: LogEntry): void {
    this.logged.push(entry);
  }

  systemFailed(report: string): () => void {
    this.failedSystems.push(report);
    return () => void this.failedSystems.splice(this.failedSystems.indexOf(report), 1);
  }

  /** Runs the callbacks of `soon` and `later`; false when there were none. */
  runCallbacks(): boolean {
    if (this.callbacks.length === 0) return false;
    const due = this.callbacks;
    this.callbacks = [];
    for (const run of due) run();
    return true;
  }

  /** When the next timer is due, or undefined. */
  nextDue(): number | undefined {
    let next: number | undefined;
    for (const { due } of this.timers) if (next === undefined || due < next) next = due;
    return next;
  }

  /** Moves time to `until` and runs the timers due by then, in order. */
  moveTo(until: number): void {
    for (;;) {
      const first = [...this.timers].sort((a, b) => a.due - b.due || a.order - b.order)[0];
      if (first === undefined || first.due > until) break;
      this.timers.delete(first);
      this.time = Math.max(this.time, first.due);
      first.run();
    }
    this.time = Math.max(this.time, until);
  }
}
