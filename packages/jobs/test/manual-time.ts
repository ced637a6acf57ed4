import type { JobsHost } from '#src/jobs-host.js';

/** A manual clock with its host. `soon` and `later` run at once. */
export class ManualTime {
  now: number;
  private timers: { readonly at: number; readonly run: () => void }[] = [];
  readonly host: JobsHost = {
    now: () => this.now,
    wallNow: () => this.now,
    random: () => 0.5,
    soon: (run) => run(),
    later: (run) => run(),
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
