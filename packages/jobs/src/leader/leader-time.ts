import type { JobsClock } from '../jobs-host.js';

/** The times of a leader: that of its records (ADR 0414), and that of its leases (ADR 0404). */
export class LeaderTime {
  /** Read once a turn: the records of one turn carry one time. Never goes back. */
  record = 0;
  /** Monotonic; a stall of the leader counts as two ticks of it at most. */
  lease = 0;
  private readonly clock: JobsClock;
  /** Add the monotonic time to it to get the time of a record. */
  private readonly recordEpoch: number;
  private lastTickAt: number;

  /** `after`: the latest time of a record so far. */
  constructor(clock: JobsClock, after: number) {
    this.clock = clock;
    this.lastTickAt = clock.now();
    // The wall clock is read only here: set back, it would hold up every delay; set forward, it would end
    // them.
    this.recordEpoch = Math.max(clock.wallNow(), after) - this.lastTickAt;
    this.read();
  }

  read(): void {
    this.record = Math.floor(this.recordEpoch + this.clock.now());
  }

  /** How far the wall clock was set since the leader started. */
  get wallStepMs(): number {
    return this.clock.wallNow() - this.recordEpoch - this.clock.now();
  }

  /** A stalled leader received no heartbeat; that must not count against the workers. */
  tick(tickMs: number): void {
    const now = this.clock.now();
    this.lease += Math.min(now - this.lastTickAt, 2 * tickMs);
    this.lastTickAt = now;
    this.read();
  }
}
