import type { JobsHost, JobsTimer } from '../host.js';
import type { AttemptEnd, WorkerMessage } from '../protocol/worker-messages.js';
import type { LoadMeter } from './load-meter.js';
import type { Slots } from './slots.js';

export interface ReporterSetup {
  readonly host: JobsHost;
  readonly load: LoadMeter;
  readonly slots: Slots;
  readonly send: (message: WorkerMessage) => void;
}

/** What the leader hears of a worker: ends, credit and load, in one message a burst, and at least once a beat. */
export class Reporter {
  private readonly setup: ReporterSetup;
  private ends: AttemptEnd[] = [];
  /** Run time of the attempts that ended since the last report. */
  private ranMs = 0;
  private beatMs = 0;
  private reportedAt = 0;
  private isOpen = false;
  private isScheduled = false;
  private timer: JobsTimer | undefined = undefined;

  constructor(setup: ReporterSetup) {
    this.setup = setup;
  }

  /** A session is on its way; these ends are said again in it. */
  restart(ends: AttemptEnd[]): void {
    this.isOpen = false;
    this.ends = ends;
  }

  /** The leader has welcomed the session. */
  open(beatMs: number): void {
    this.isOpen = true;
    this.beatMs = beatMs;
    this.report();
  }

  close(): void {
    this.isOpen = false;
    this.timer?.cancel();
    this.timer = undefined;
  }

  add(end: AttemptEnd, ranMs: number): void {
    this.ends.push(end);
    this.ranMs += ranMs;
    this.soon();
  }

  /** Ends of one burst leave together. */
  soon(): void {
    if (this.isScheduled || !this.isOpen) return;
    this.isScheduled = true;
    this.setup.host.soon(() => {
      this.isScheduled = false;
      this.report();
    });
  }

  private report(): void {
    if (!this.isOpen) return;
    const { host, load, slots, send } = this.setup;
    const { ends, ranMs: runMs } = this;
    this.ends = [];
    this.ranMs = 0;
    const credit = slots.credit();
    send({ kind: 'report', ends, credit, cpu: load.cpu(), lagMs: load.lagMs(), runMs });
    this.reportedAt = host.now();
    if (this.timer === undefined) this.beatIn(this.beatMs);
  }

  /** One timer for many reports: it looks at the clock when it goes off, and nobody moves it. */
  private beatIn(ms: number): void {
    const { host } = this.setup;
    this.timer = host.setTimer(ms, () => {
      this.timer = undefined;
      const restMs = this.reportedAt + this.beatMs - host.now();
      if (restMs > 0) this.beatIn(restMs);
      else this.report();
    });
  }
}
