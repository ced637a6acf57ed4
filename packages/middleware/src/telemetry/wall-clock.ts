const ANCHOR_MS = 60_000;
const COARSE_MS = 1.5;

/** The clocks of a host. */
export interface Clocks {
  now(): number;
  wallNow(): number;
}

const processClocks: Clocks = { now: () => performance.now(), wallNow: () => Date.now() };

/**
 * Converts monotonic milliseconds to milliseconds since 1970. The two clocks drift apart over days, so their
 * difference is measured again every minute; within one span it jumps by no more than the drift of a minute.
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
    // A wall clock counts whole milliseconds; `timeOrigin` has the fraction, unless the clock was set since
    // the start.
    const { timeOrigin } = performance;
    this.offset = Math.abs(timeOrigin - coarse) < COARSE_MS ? timeOrigin : coarse;
  }
}
