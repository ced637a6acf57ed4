const ANCHOR_MS = 60_000;
const COARSE_MS = 1.5;

/** The clocks of a host. */
export interface Clocks {
  now(): number;
  wallNow(): number;
}

const processClocks: Clocks = { now: () => performance.now(), wallNow: () => Date.now() };

/**
 * Monotonic milliseconds as milliseconds since 1970. The two clocks drift apart over days, so the difference is taken
 * anew now and then; within one span it does not jump by more than the drift of a minute.
 */
export class WallClock {
  private clocks: Clocks = processClocks;
  private anchoredAt = 0;
  private offset = 0;

  constructor() {
    this.anchor();
  }

  use(clocks: Clocks): void {
    this.clocks = clocks;
    this.anchor();
  }

  now(): number {
    return this.clocks.now();
  }

  epochOf(monotonic: number): number {
    if (monotonic - this.anchoredAt > ANCHOR_MS) this.anchor();
    return this.offset + monotonic;
  }

  private anchor(): void {
    this.anchoredAt = this.clocks.now();
    const coarse = this.clocks.wallNow() - this.anchoredAt;
    // A wall clock shows whole milliseconds; the process knows the fraction, as long as its clock was not set since.
    const { timeOrigin } = performance;
    this.offset = Math.abs(timeOrigin - coarse) < COARSE_MS ? timeOrigin : coarse;
  }
}
