import type { Host } from '@troupe/core';

/**
 * Whether this process may still lead, by its own monotonic clock. The log changes it, the leader looks at it
 * before its answers leave.
 */
export class LeaseHold {
  /** Appends fail with it from now on. */
  lostBy: Error | undefined = undefined;
  private endsAt: number;
  private readonly clock: Pick<Host, 'now'>;

  /** `endsAt` is counted from before the lease was requested. */
  constructor(clock: Pick<Host, 'now'>, endsAt: number) {
    this.clock = clock;
    this.endsAt = endsAt;
  }

  get isHeld(): boolean {
    return this.lostBy === undefined && this.clock.now() < this.endsAt;
  }

  extend(endsAt: number): void {
    this.endsAt = Math.max(this.endsAt, endsAt);
  }
}
