/** Time and chance of a state machine. A part of the runtime's host, so that a host of the runtime fits. */
export interface JobsClock {
  /** Monotonic milliseconds: leases, delays, heartbeats. */
  now(): number;
  /** Milliseconds since 1970. A leader reads it once, when it starts. */
  wallNow(): number;
  random(): number;
}

/** Clock, randomness and timers of a role. */
export interface JobsHost extends JobsClock {
  setTimer(ms: number, run: () => void): JobsTimer;
  /** Before any other event of the event loop. */
  soon(run: () => void): void;
  /** After the event loop has handled its timers and sockets once. */
  later(run: () => void): void;
}

export interface JobsTimer {
  cancel(): void;
}
