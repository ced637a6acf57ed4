const WINDOW_MS = 1_000;

/**
 * Bounds the events about peers that are refused or break off, so that a flood of them is not a flood of log
 * lines. The number of those left out follows with the next window.
 */
export class EventLimit {
  private readonly perSecondMax: number;
  private since = Number.NEGATIVE_INFINITY;
  private count = 0;
  private leftOut = 0;

  constructor(perSecondMax: number) {
    this.perSecondMax = perSecondMax;
  }

  /** Whether the event is reported; `onLeftOut` gets the number of those before it that were not. */
  admits(now: number, onLeftOut: (count: number) => void): boolean {
    if (now - this.since >= WINDOW_MS) {
      this.since = now;
      this.count = 0;
      const { leftOut } = this;
      this.leftOut = 0;
      if (leftOut > 0) onLeftOut(leftOut);
    }
    this.count += 1;
    if (this.count <= this.perSecondMax) return true;
    this.leftOut += 1;
    return false;
  }
}
