import type { Host } from '@troupe/core';

const TRIES = 10;
const WINDOW_MS = 60_000;
/** Beyond it the oldest address is forgotten: a bounded table is worth more than one counter. */
const ADDRESSES_MAX = 10_000;

interface Failures {
  count: number;
  readonly since: number;
}

/** Counts wrong tokens by address: after ten within a minute that address waits for the rest of it. */
export class FailedTokens {
  private readonly clock: Pick<Host, 'now'>;
  private readonly byAddress = new Map<string, Failures>();

  constructor(clock: Pick<Host, 'now'>) {
    this.clock = clock;
  }

  /** Milliseconds until the address may try again; 0: now. */
  waitMs(address: string): number {
    const failures = this.byAddress.get(address);
    if (failures === undefined || failures.count < TRIES) return 0;
    return Math.max(0, failures.since + WINDOW_MS - this.clock.now());
  }

  add(address: string): void {
    const now = this.clock.now();
    const failures = this.byAddress.get(address);
    if (failures !== undefined && now - failures.since < WINDOW_MS) {
      failures.count += 1;
      return;
    }
    this.byAddress.delete(address);
    this.byAddress.set(address, { count: 1, since: now });
    if (this.byAddress.size <= ADDRESSES_MAX) return;
    for (const oldest of this.byAddress.keys()) return void this.byAddress.delete(oldest);
  }
}
