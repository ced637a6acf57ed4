/** The log's port to clocks, timers, randomness and the process. See `walHostOf`. */
export interface WalHost {
  /** Monotonic milliseconds. */
  now(): number;
  /** Wall clock milliseconds; stored, never compared. */
  wallNow(): number;
  random(): number;
  /** With `hold` the timer keeps the process alive, since a caller waits for it. */
  setTimer(ms: number, run: () => void, hold?: boolean): unknown;
  clearTimer(timer: unknown): void;
  /** Runs once, after the current callbacks. The later within the same instant, the larger the batch. */
  defer(run: () => void): void;
  /** Runs after the event loop has polled once. Default: a timer of 0 ms. */
  later?(run: () => void): void;
  /** Ends the process. Default: `process.exit`. Returns only in a simulator or a test. */
  exit?(code: number): void;
}
