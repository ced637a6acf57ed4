import type { JobsTimer, JobsTimers } from '../jobs-host.js';
import type { FeedRequest } from '../protocol/feed-messages.js';
import type { StreamChunks } from '../protocol/stream-messages.js';
import type { AttemptProgress } from '../protocol/worker/progress-messages.js';
import type { AttemptEnd, RunnerUse, WorkerMessage } from '../protocol/worker/worker-messages.js';
import type { HandlerSlots } from './credit/handler-slots.js';
import type { LoadMeter } from './credit/load-meter.js';

export interface WorkerReporterSetup {
  readonly timers: JobsTimers;
  readonly load: LoadMeter;
  readonly slots: HandlerSlots;
  /** Leads to `report` at the end of the burst. */
  readonly request: () => void;
  readonly write: (message: WorkerMessage) => void;
  /** Chunks that may leave now. */
  readonly takeChunks: () => readonly StreamChunks[];
  /** Progress of attempts that is due. */
  readonly takeProgress: () => readonly AttemptProgress[] | undefined;
  /** Warm runners that have changed. */
  readonly takeRunners: () => readonly RunnerUse[] | undefined;
  /** Feeds whose state the leader does not know. */
  readonly takeFeedRequests: () => readonly FeedRequest[];
}

/** Reports ends, credit and load to the leader: one message a burst, and at least one a heartbeat. */
export class WorkerReporter {
  private readonly setup: WorkerReporterSetup;
  private ends: AttemptEnd[] = [];
  /** Run time of the attempts that ended since the last report. */
  private ranMs = 0;
  private heartbeatMs = 0;
  private reportedAt = 0;
  private isOpen = false;
  private isScheduled = false;
  /** Else only chunks and feed requests leave. */
  private isReportDue = false;
  private timer: JobsTimer | undefined = undefined;

  constructor(setup: WorkerReporterSetup) {
    this.setup = setup;
  }

  /** A new session begins, in which these ends are reported again. */
  restart(ends: AttemptEnd[]): void {
    this.isOpen = false;
    this.ends = ends;
  }

  /** The leader has welcomed the session. */
  open(heartbeatMs: number): void {
    this.isOpen = true;
    this.heartbeatMs = heartbeatMs;
    this.reportNow();
  }

  close(): void {
    this.isOpen = false;
    this.timer?.cancel();
    this.timer = undefined;
  }

  add(end: AttemptEnd, ranMs: number): void {
    this.ends.push(end);
    this.ranMs += ranMs;
    this.schedule();
  }

  /** Ends of one burst go in one report. */
  schedule(): void {
    this.isReportDue = true;
    this.request();
  }

  /** There are chunks: they leave without a report, unless one is due. */
  scheduleChunks(): void {
    this.request();
  }

  private request(): void {
    if (this.isScheduled || !this.isOpen) return;
    this.isScheduled = true;
    this.setup.request();
  }

  report(): void {
    this.isScheduled = false;
    if (!this.isOpen) return;
    const { timers, load, slots, write } = this.setup;
    // Before the ends: the leader takes no chunk of an attempt that has ended.
    const chunks = this.setup.takeChunks();
    if (chunks.length > 0) write({ kind: 'chunks', items: chunks });
    const requests = this.setup.takeFeedRequests();
    if (requests.length > 0) write({ kind: 'feed_requests', items: requests });
    if (!this.isReportDue) return;
    this.isReportDue = false;
    const { ends, ranMs: runMs } = this;
    this.ends = [];
    this.ranMs = 0;
    const credit = slots.credit();
    const { overrun } = slots;
    const runners = this.setup.takeRunners();
    const progress = this.setup.takeProgress();
    const measured = { cpu: load.cpu(), lagMs: load.lagMs(), runMs, overrun };
    write({ kind: 'report', ends, credit, ...measured, runners, progress });
    this.reportedAt = timers.now();
    if (this.timer === undefined) this.heartbeatIn(this.heartbeatMs);
  }

  private reportNow(): void {
    this.isReportDue = true;
    this.report();
  }

  /** One timer for many reports: it is never moved, but compares with the last report when it fires. */
  private heartbeatIn(ms: number): void {
    const { timers } = this.setup;
    this.timer = timers.setTimer(ms, () => {
      this.timer = undefined;
      const restMs = this.reportedAt + this.heartbeatMs - timers.now();
      if (restMs > 0) this.heartbeatIn(restMs);
      else this.reportNow();
    });
  }
}
