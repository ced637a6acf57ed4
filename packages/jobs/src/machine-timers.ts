import type { JobsClock, JobsTimer, JobsTimers } from './jobs-host.js';

class MachineTimer implements JobsTimer {
  readonly at: number;
  readonly run: () => void;
  private readonly timers: Set<MachineTimer>;

  constructor(at: number, run: () => void, timers: Set<MachineTimer>) {
    this.at = at;
    this.run = run;
    this.timers = timers;
  }

  cancel(): void {
    this.timers.delete(this);
  }
}

/**
 * The few timers of a state machine, on one timer of its driver: `startTick` leads to `tick` in so many
 * milliseconds, and its latest call replaces earlier ones.
 */
export class MachineTimers implements JobsTimers {
  private readonly clock: Pick<JobsClock, 'now'>;
  private readonly startTick: (ms: number) => void;
  private readonly timers = new Set<MachineTimer>();
  private tickAt = Number.POSITIVE_INFINITY;

  constructor(clock: Pick<JobsClock, 'now'>, startTick: (ms: number) => void) {
    this.clock = clock;
    this.startTick = startTick;
  }

  now(): number {
    return this.clock.now();
  }

  setTimer(ms: number, run: () => void): JobsTimer {
    const timer = new MachineTimer(this.clock.now() + ms, run, this.timers);
    this.timers.add(timer);
    this.tickBy(timer.at);
    return timer;
  }

  /** Runs the timers that are due. One that is set meanwhile waits for the next tick. */
  tick(): void {
    this.tickAt = Number.POSITIVE_INFINITY;
    const now = this.clock.now();
    for (const timer of [...this.timers]) {
      // A timer that ran before it may have cancelled it.
      if (timer.at <= now && this.timers.delete(timer)) timer.run();
    }
    for (const { at } of this.timers) this.tickBy(at);
  }

  private tickBy(at: number): void {
    if (at >= this.tickAt) return;
    this.tickAt = at;
    this.startTick(Math.max(0, at - this.clock.now()));
  }
}
