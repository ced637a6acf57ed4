import type { Host } from '../../host.js';

/**
 * The time that hooks see: one clock read for all hooks before a handler and one after it, if a hook asks.
 */
export class CachedHookTime {
  private readonly host: Host;
  private time = 0;
  private isRead = false;

  constructor(host: Host) {
    this.host = host;
  }

  get now(): number {
    if (!this.isRead) {
      this.time = this.host.now();
      this.isRead = true;
    }
    return this.time;
  }

  /** The next read gets a new time. */
  expire(): void {
    this.isRead = false;
  }
}
