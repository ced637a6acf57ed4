import type { Host } from '../host.js';

/** The time that hooks see: read once for all of them before a handler and once after it, if one of them asks. */
export class HookClock {
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

  /** Whoever asks from here on gets another time. */
  moveOn(): void {
    this.isRead = false;
  }
}
