import type { TransportLimits } from '../access/limits.js';

/** Why nothing is read just now. Reasons add up; reading goes on when none is left. */
export const BY_OWNER = 1;
export const BY_OUTBOX = 2;
const BY_IN_FLIGHT = 4;

/** What stands still and goes on. */
export interface IntakeValve {
  shut(): void;
  open(): void;
}

/** Whether a connection reads: counts the reasons not to, and the requests that are taken and not answered. */
export class Intake {
  readonly #limits: TransportLimits;
  readonly #valve: IntakeValve;
  #reasons = 0;
  #inFlight = 0;
  #inFlightBytes = 0;

  constructor(limits: TransportLimits, valve: IntakeValve) {
    this.#limits = limits;
    this.#valve = valve;
  }

  get reading(): boolean {
    return this.#reasons === 0;
  }

  stop(reason: number): void {
    if (this.#reasons === 0) this.#valve.shut();
    this.#reasons |= reason;
  }

  go(reason: number): void {
    if ((this.#reasons & reason) === 0) return;
    this.#reasons &= ~reason;
    if (this.#reasons === 0) this.#valve.open();
  }

  took(bytes: number): void {
    this.#inFlight += 1;
    this.#inFlightBytes += bytes;
    if (!this.#hasRoom()) this.stop(BY_IN_FLIGHT);
  }

  settled(bytes: number): void {
    this.#inFlight -= 1;
    this.#inFlightBytes -= bytes;
    if (this.#hasRoom()) this.go(BY_IN_FLIGHT);
  }

  #hasRoom(): boolean {
    return this.#inFlight < this.#limits.inFlightMax && this.#inFlightBytes < this.#limits.inFlightBytesMax;
  }
}
