import type { JobsTimer, JobsTimers } from '../../jobs-host.js';
import type { AttemptProgress } from '../../protocol/worker/progress-messages.js';
import type { Attempt } from '../attempt/attempt.js';

/** Progress leaves at most so often. */
const INTERVAL_MS = 200;
/** Characters of all attempts in one report; others wait for the next. */
const REPORT_CHARS_MAX = 64 * 1024;

/** Attempts with progress or log lines for the leader. */
export class ProgressOutbox {
  private readonly timers: JobsTimers;
  private readonly onDue: () => void;
  private readonly dirty = new Set<Attempt>();
  private timer: JobsTimer | undefined = undefined;
  private sentAt = Number.NEGATIVE_INFINITY;

  /** `onDue`: a report should be made. */
  constructor(timers: JobsTimers, onDue: () => void) {
    this.timers = timers;
    this.onDue = onDue;
  }

  add(attempt: Attempt): void {
    this.dirty.add(attempt);
    this.schedule();
  }

  /** The attempt begins or ends: its progress leaves with the next report. */
  hurry(attempt: Attempt): void {
    if (this.dirty.has(attempt)) this.sentAt = Number.NEGATIVE_INFINITY;
  }

  /** Undefined: there is none, or it is not time for it. */
  take(): readonly AttemptProgress[] | undefined {
    const now = this.timers.now();
    if (this.dirty.size === 0 || now < this.sentAt + INTERVAL_MS) return undefined;
    this.sentAt = now;
    const all: AttemptProgress[] = [];
    let chars = 0;
    for (const attempt of this.dirty) {
      if (chars > REPORT_CHARS_MAX) break;
      this.dirty.delete(attempt);
      const progress = attempt.takeProgress();
      if (progress === undefined) continue;
      for (const line of progress.lines) chars += line.length;
      all.push(progress);
    }
    this.schedule();
    return all;
  }

  clear(): void {
    this.dirty.clear();
    this.timer?.cancel();
    this.timer = undefined;
  }

  private schedule(): void {
    if (this.timer !== undefined || this.dirty.size === 0) return;
    const waitMs = Math.max(0, this.sentAt + INTERVAL_MS - this.timers.now());
    this.timer = this.timers.setTimer(waitMs, () => {
      this.timer = undefined;
      this.onDue();
    });
  }
}
