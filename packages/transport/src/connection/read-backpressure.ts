import type { TransportLimits } from '../access/transport-limits.js';

/** Reasons to pause reading. They add up; reading resumes when none is left. */
export const PAUSED_BY_OWNER = 1;
export const PAUSED_BY_OUTBOX = 2;
const PAUSED_BY_IN_FLIGHT = 4;

/** The reading side of a connection. */
export interface ReadSwitch {
  pauseReading(): void;
  resumeReading(): void;
}

/** Pauses and resumes reading: by request, by a full outbox, or at the limit of requests in flight. */
export class ReadBackpressure {
  private readonly limits: TransportLimits;
  private readonly reading: ReadSwitch;
  private reasons = 0;
  private inFlight = 0;
  private inFlightBytes = 0;

  constructor(limits: TransportLimits, reading: ReadSwitch) {
    this.limits = limits;
    this.reading = reading;
  }

  get isReading(): boolean {
    return this.reasons === 0;
  }

  pause(reason: number): void {
    if (this.reasons === 0) this.reading.pauseReading();
    this.reasons |= reason;
  }

  resume(reason: number): void {
    if ((this.reasons & reason) === 0) return;
    this.reasons &= ~reason;
    if (this.reasons === 0) this.reading.resumeReading();
  }

  requestStarted(bytes: number): void {
    this.inFlight += 1;
    this.inFlightBytes += bytes;
    if (!this.hasRoom()) this.pause(PAUSED_BY_IN_FLIGHT);
  }

  requestEnded(bytes: number): void {
    this.inFlight -= 1;
    this.inFlightBytes -= bytes;
    if (this.hasRoom()) this.resume(PAUSED_BY_IN_FLIGHT);
  }

  private hasRoom(): boolean {
    return this.inFlight < this.limits.inFlightMax && this.inFlightBytes < this.limits.inFlightBytesMax;
  }
}
