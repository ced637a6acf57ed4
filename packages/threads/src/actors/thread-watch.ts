import type { ThreadNotes } from '@troupe/core';

/** A thread that does not come back to its event loop. `limitMs`: it is past this limit, and to be ended. */
export interface BlockedThread {
  readonly ms: number;
  readonly limitMs: number | undefined;
}

export interface WatchLimits {
  /** A thread that is blocked for so long is reported. */
  readonly reportMs: number;
  /** A thread that is blocked for so long is ended. Undefined: never for this reason. */
  readonly killMs: number | undefined;
}

/**
 * Watches another thread by its notes. It is blocked while it does not look for records, unless it sleeps
 * with nothing begun. A thread that runs one handler for minutes works, and is only reported; it is ended at
 * the limit of that handler, or of the program.
 */
export class ThreadWatch {
  private readonly notes: ThreadNotes;
  private readonly limits: WatchLimits;
  private looks = 0;
  private begun = 0;
  private since = Number.NaN;
  private begunSince = Number.NaN;
  private isReported = false;

  constructor(notes: ThreadNotes, limits: WatchLimits) {
    this.notes = notes;
    this.limits = limits;
  }

  /** Another thread takes the place of the one that was watched. */
  begin(): void {
    this.since = Number.NaN;
  }

  /** Undefined while there is nothing to report or to end. */
  check(isAsleep: boolean, now: number): BlockedThread | undefined {
    const { notes } = this;
    const { looks, begun } = notes;
    const isIdle = isAsleep && notes.message === undefined;
    if (looks !== this.looks || isIdle || Number.isNaN(this.since)) {
      this.looks = looks;
      this.since = now;
      this.isReported = false;
    }
    if (begun !== this.begun || this.since === now) {
      this.begun = begun;
      this.begunSince = now;
    }
    return this.overLimit(now) ?? this.unreported(now - this.since);
  }

  private overLimit(now: number): BlockedThread | undefined {
    const { killMs } = this.limits;
    const { limitMs } = this.notes;
    const ms = now - this.since;
    if (limitMs !== undefined && now - this.begunSince > limitMs)
      return { ms: now - this.begunSince, limitMs };
    return killMs !== undefined && ms > killMs ? { ms, limitMs: killMs } : undefined;
  }

  private unreported(ms: number): BlockedThread | undefined {
    if (this.isReported || ms < this.limits.reportMs) return undefined;
    this.isReported = true;
    return { ms, limitMs: undefined };
  }
}
