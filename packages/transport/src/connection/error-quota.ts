import { WIRE_ERRORS, type WireError, type WireErrorName } from './wire-error.js';

const WINDOW_MS = 60_000;

/** Counts the errors that end a connection above a number per minute. */
export class ErrorQuota {
  private readonly counts = new Map<WireErrorName, { since: number; count: number }>();

  /** Counts one error; true where there are too many. */
  exceeds(name: WireErrorName, now: number): boolean {
    const { perMinuteMax }: WireError = WIRE_ERRORS[name];
    if (perMinuteMax === 0) return false;
    const entry = this.counts.get(name);
    if (entry === undefined || now - entry.since >= WINDOW_MS) {
      this.counts.set(name, { since: now, count: 1 });
      return false;
    }
    entry.count += 1;
    return entry.count > perMinuteMax;
  }
}
