import assert from 'node:assert/strict';
import type { JobsHost, JobsTimer } from '../host.js';
import { BATCH_JOBS_MAX, type RunTimeEstimate } from '../protocol/run-time-estimate.js';
import type { Credit } from '../protocol/worker-messages.js';
import type { Attempt } from './attempt.js';
import type { LoadMeter } from './load-meter.js';
import type { WorkerSettings } from './worker-options.js';

export interface SlotsSetup {
  readonly settings: WorkerSettings;
  readonly runTimeEstimate: RunTimeEstimate;
  readonly host: JobsHost;
  readonly load: LoadMeter;
}

/**
 * The worker's side of credit (ADR 0052). `granted` is the total of this session; what was granted and not yet used is out. What is out and
 * what is in hand are never more than the slots, and a row beyond them while attempts are short (ADR 0138).
 */
export class Slots {
  running = 0;
  private inHand = 0;
  private inHandBytes = 0;
  private out = 0;
  private granted = 0;
  private grantedBytes = 0;
  private closed = false;
  private held: JobsTimer | undefined = undefined;
  private heldSince = 0;
  private readonly settings: WorkerSettings;
  private readonly runTimeEstimate: RunTimeEstimate;
  private readonly host: JobsHost;
  private readonly load: LoadMeter;
  private readonly onOffer: () => void;

  /** `onOffer`: a slot that was held back is offered again. */
  constructor({ settings, runTimeEstimate, host, load }: SlotsSetup, onOffer: () => void) {
    this.settings = settings;
    this.runTimeEstimate = runTimeEstimate;
    this.host = host;
    this.load = load;
    this.onOffer = onOffer;
  }

  /** A new session: what was out before is void. */
  restart(): Credit {
    this.out = 0;
    this.granted = 0;
    this.grantedBytes = this.settings.bytesMax - Math.min(this.inHandBytes, this.settings.bytesMax);
    this.offer();
    return this.credit();
  }

  credit(): Credit {
    return { jobs: this.granted, bytes: this.grantedBytes };
  }

  get isFull(): boolean {
    return this.running >= this.settings.slots;
  }

  /** An attempt has come. */
  take({ payloadBytes }: Pick<Attempt, 'payloadBytes'>): void {
    this.out -= 1;
    this.inHand += 1;
    this.inHandBytes += payloadBytes;
    this.check();
  }

  /** It has its slot. */
  begin(): void {
    this.running += 1;
    this.check();
  }

  /** It has left. Another is asked for in its place, unless the processor is above its cap. */
  giveBack({ payloadBytes, hasBegun }: Pick<Attempt, 'payloadBytes' | 'hasBegun'>): void {
    if (hasBegun) this.running -= 1;
    this.inHand -= 1;
    this.inHandBytes -= payloadBytes;
    this.grantedBytes += payloadBytes;
    this.offer();
    this.check();
  }

  close(): void {
    this.closed = true;
    this.held?.cancel();
    this.out = 0;
  }

  /** What may be in hand and is neither there nor on its way; below 0 when attempts have become long. */
  private get free(): number {
    return this.settings.slots + this.runTimeEstimate.batchSize - this.out - this.inHand;
  }

  private offer(): void {
    const { free } = this;
    if (this.closed || free <= 0) return;
    if (this.tooBusy()) return this.hold();
    this.heldSince = 0;
    this.granted += free;
    this.out += free;
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
      if (this.free <= 0) this.onOffer();
    });
  }

  /** On in production: a worker whose books do not balance must stop before it runs what it was not paid for. */
  private check(): void {
    const { out, running, inHand, settings } = this;
    const areRight = out + inHand <= settings.slots + BATCH_JOBS_MAX && running <= settings.slots;
    if (areRight && running <= inHand && (out >= 0 || this.closed)) return;
    const books = `${out} credits out, ${inHand} in hand, ${running} running, ${settings.slots} slots`;
    assert.fail(`worker: ${out < 0 ? `${-out} more jobs than credit, ` : ''}${books}`);
  }
}
