/** One armed timer of the host. */
export interface HostTimer {
  cancel(): void;
  /** Whether this timer alone keeps the process alive. */
  hold(hold: boolean): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One structured line. `message` is for people, `fields` for machines. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Everything that the runtime needs from outside: clocks, randomness, scheduling and a log. The simulator is
 * the production runtime with another host, so nothing else in core may touch time, chance or the event loop.
 */
export interface Host {
  /** Monotonic milliseconds, with fractions. Deadlines and time-outs use these. */
  now(): number;
  /** Milliseconds since 1970. For calendars and log lines only. */
  wallNow(): number;
  /** A number from 0 up to, not including, 1. */
  random(): number;
  /** Calls `run` once, `ms` from now. */
  setTimer(ms: number, run: () => void): HostTimer;
  /** Before anything else happens on the event loop. */
  soon(run: () => void): void;
  /** After the event loop has served its timers and sockets once. */
  later(run: () => void): void;
  /** Writes one line. */
  log(entry: LogEntry): void;
  /**
   * A failure has stopped a system, and no code has looked at its end: the process should not go on as if
   * nothing had happened. Returns the function that takes it back, for code that looks later.
   */
  systemFailed?(report: string): () => void;
}
