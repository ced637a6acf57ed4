/** The port for time and random numbers. `Host` of @troupe/core implements it. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** From 0 up to, not including, 1. For jitter; nonces come from `Net.secureRandom`. */
  random(): number;
  setTimer(ms: number, run: () => void): { cancel(): void };
  /** Runs at the end of the current callback, as a microtask. */
  soon(run: () => void): void;
}
