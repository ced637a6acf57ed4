import type { JobsClock, JobsTimer, JobsTimers } from '#src/jobs-host.js';

/** A manual clock with its timers. */
export class ManualTime {
  now: number;
  private timers: { readonly at: number; readonly run: () => void }[] = [];
  readonly host: JobsClock & JobsTimers = {
    now: () => this.now,
    wallNow: () => this.now,
    random: () => 0.5,
    setTimer: (ms, run) => {
      const timer = { at: this.now + ms, run };
      this.timers.push(timer);
      const cancel = (): void => {
        this.timers = this.timers.filter((one) => one !== timer);
      };
      return { cancel };
    },
  };

  constructor(now = 1) {
    this.now = now;
  }

  /** The effect `startTick` of a machine: the latest call replaces earlier ones. */
  ticker(tick: () => void): (ms: number) => void {
    let timer: JobsTimer | undefined;
    return (ms) => {
      timer?.cancel();
      timer = this.host.setTimer(ms, tick);
    };
  }

  get pendingTimers(): number {
    return this.timers.length;
  }

  advance(ms: number): void {
    this.now += ms;
    const due = this.timers.filter((one) => one.at <= this.now);
    this.timers = this.timers.filter((one) => one.at > this.now);
    for (const timer of due) timer.run();
  }
}
