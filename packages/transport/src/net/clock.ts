/** The little this package needs of time and chance. `Host` of @troupe/core fits it, real or manual. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** From 0 up to, not including, 1. For jitter; nonces come from `Net.entropy`. */
  random(): number;
  setTimer(ms: number, run: () => void): { cancel(): void };
  /** Once the code now running has returned, before the event loop turns. */
  soon(run: () => void): void;
}
