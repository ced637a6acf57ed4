/** What the log needs besides a disk. A structural part of the runtime's host, so that one can be passed for the other. */
export interface WalHost {
  /** Monotonic milliseconds. */
  now(): number;
  /** Wall clock milliseconds; only ever stored, never compared. */
  wallNow(): number;
  random(): number;
  setTimer(ms: number, run: () => void): unknown;
  clearTimer(timer: unknown): void;
  /** Runs once, after what is running now. The later within the same instant, the larger the batch. */
  defer(run: () => void): void;
  /** Ends the process; left out, the process itself does. Returns only where somebody else decides that (a simulator, a test). */
  exit?(code: number): void;
}
