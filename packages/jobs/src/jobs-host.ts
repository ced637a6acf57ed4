/** Time and chance of a state machine. A part of the runtime's host, so that a host of the runtime fits. */
export interface JobsClock {
  /** Monotonic milliseconds: leases, delays, heartbeats. */
  now(): number;
  /** Milliseconds since 1970. A leader reads it when it starts, and for its schedules. */
  wallNow(): number;
  random(): number;
}

/** A clock with timers: of a state machine, or of the runtime's host. */
export interface JobsTimers {
  /** Monotonic milliseconds. */
  now(): number;
  setTimer(ms: number, run: () => void): JobsTimer;
}

export interface JobsTimer {
  cancel(): void;
}
