/**
 * The time that the pump may hold the event loop, within bounds. When the loop comes back at once, no other
 * code needs it and the slice grows; when it comes back late, other code is busy and the slice shrinks.
 */
export class TimeSlice {
  ms: number;
  private readonly msMin: number;
  private readonly msMax: number;

  constructor(bounds: { readonly msMin: number; readonly msMax: number }) {
    this.msMin = bounds.msMin;
    this.msMax = bounds.msMax;
    this.ms = bounds.msMax;
  }

  adapt(loopDelayMs: number): void {
    if (loopDelayMs > this.ms / 2) this.ms = Math.max(this.msMin, this.ms / 2);
    else this.ms = Math.min(this.msMax, this.ms * 1.25);
  }
}
