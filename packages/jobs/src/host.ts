/** What the roles need of their surroundings: a part of the runtime's host, so that one fits the other. */
export interface JobsHost {
  /** Monotonic milliseconds: leases, delays, beats. */
  now(): number;
  /** Milliseconds since 1970: what a leader's first record is dated with. */
  wallNow(): number;
  random(): number;
  setTimer(ms: number, run: () => void): JobsTimer;
  /** Before anything else happens on the event loop. */
  soon(run: () => void): void;
  /** After the event loop has looked at its timers and sockets once. */
  later(run: () => void): void;
}

export interface JobsTimer {
  cancel(): void;
}
