import assert from 'node:assert/strict';
import type { JobsHost, JobsTimer } from '../host.js';
import type { Credit } from '../protocol/worker-messages.js';
import type { LoadMeter } from './load-meter.js';
import type { WorkerSettings } from './worker-options.js';

/**
 * The worker's side of credit (ADR 0052). Always: credits out + running + withheld = slots. `granted` is the total of this
 * session; what was granted and not yet used is out.
 */
export class Slots {
  running = 0;
  private out = 0;
  private withheld: number;
  private granted = 0;
  private grantedBytes = 0;
  private runningBytes = 0;
  private closed = false;
  private held: JobsTimer | undefined = undefined;
  private heldSince = 0;
  private readonly settings: WorkerSettings;
  private readonly host: JobsHost;
  private readonly load: LoadMeter;
  private readonly onOffer: () => void;

  /** `onOffer`: a slot that was held back is offered again. */
  constructor(settings: WorkerSettings, host: JobsHost, load: LoadMeter, onOffer: () => void) {
    this.settings = settings;
    this.host = host;
    this.load = load;
    this.onOffer = onOffer;
    this.withheld = settings.slots;
  }

  /** A new session: what was out before is void. */
  restart(): Credit {
    this.withheld += this.out;
    this.out = 0;
    this.granted = 0;
    this.grantedBytes = this.settings.bytesMax - Math.min(this.runningBytes, this.settings.bytesMax);
    this.offer();
    return this.credit();
  }

  credit(): Credit {
    this.check();
    return { jobs: this.granted, bytes: this.grantedBytes };
  }

  take(bytes: number): void {
    this.out -= 1;
    this.running += 1;
    this.runningBytes += bytes;
    this.check();
  }

  /** An attempt has left. Its slot is offered again, unless the processor is above its cap. */
  giveBack(bytes: number): void {
    this.running -= 1;
    this.withheld += 1;
    this.runningBytes -= bytes;
    this.grantedBytes += bytes;
    this.offer();
    this.check();
  }

  close(): void {
    this.closed = true;
    this.held?.cancel();
    this.withheld += this.out;
    this.out = 0;
  }

  private offer(): void {
    if (this.closed || this.withheld === 0) return;
    if (this.tooBusy()) return this.hold();
    this.heldSince = 0;
    this.granted += this.withheld;
    this.out += this.withheld;
    this.withheld = 0;
  }

  private tooBusy(): boolean {
    const { cpuCap, withholdMsMax } = this.settings;
    if (cpuCap >= 1 || this.load.cpu() <= cpuCap) return false;
    const now = this.host.now();
    if (this.heldSince === 0) this.heldSince = now;
    return now - this.heldSince < withholdMsMax;
  }

  private hold(): void {
    if (this.held !== undefined) return;
    this.held = this.host.setTimer(50, () => {
      this.held = undefined;
      this.offer();
      if (this.withheld === 0) this.onOffer();
    });
  }

  /** On in production: a worker whose books do not balance must stop before it runs what it was not paid for. */
  private check(): void {
    const { out, running, withheld, settings } = this;
    if (out + running + withheld === settings.slots && (out >= 0 || this.closed)) return;
    const books = `${out} credits out, ${running} running, ${withheld} withheld of ${settings.slots} slots`;
    assert.fail(`worker: ${out < 0 ? `${-out} more jobs than credit, ` : ''}${books}`);
  }
}
