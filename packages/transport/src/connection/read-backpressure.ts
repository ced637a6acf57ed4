import type { TransportLimits } from '../access/transport-limits.js';

/** Why nothing is read just now. Reasons add up; reading goes on when none is left. */
export const PAUSED_BY_OWNER = 1;
export const PAUSED_BY_OUTBOX = 2;
const PAUSED_BY_IN_FLIGHT = 4;

/** What stands still and goes on. */
export interface ReadSwitch {
  pauseReading(): void;
  resumeReading(): void;
}

/** Whether a connection reads: counts the reasons not to, and the requests that are taken and not answered. */
export class ReadBackpressure {
  private readonly limits: TransportLimits;
  private readonly valve: ReadSwitch;
  private reasons = 0;
  private inFlight = 0;
  private inFlightBytes = 0;

  constructor(limits: TransportLimits, valve: ReadSwitch) {
    this.limits = limits;
    this.valve = valve;
  }

  get reading(): boolean {
    return this.reasons === 0;
  }

  pause(reason: number): void {
    if (this.reasons === 0) this.valve.pauseReading();
    this.reasons |= reason;
  }

  resume(reason: number): void {
    if ((this.reasons & reason) === 0) return;
    this.reasons &= ~reason;
    if (this.reasons === 0) this.valve.resumeReading();
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
