/** What the log needs besides a disk. A structural part of the runtime's host, so that one can be passed for the other. */
export interface WalHost {
  /** Monotonic milliseconds. */
  now(): number;
  /** Wall clock milliseconds; only ever stored, never compared. */
  wallNow(): number;
  random(): number;
  /** With `hold` it keeps the process alive: somebody waits for it. The other timers are housekeeping. */
  setTimer(ms: number, run: () => void, hold?: boolean): unknown;
  clearTimer(timer: unknown): void;
  /** Runs once, after what is running now. The later within the same instant, the larger the batch. */
  defer(run: () => void): void;
  /** Runs after the event loop has looked at its sockets and files once. Left out, a timer of 0 ms does. */
  later?(run: () => void): void;
  /** Ends the process; left out, the process itself does. Returns only where somebody else decides that (a simulator, a test). */
  exit?(code: number): void;
}
