import assert from 'node:assert/strict';
import type { JobsTimer, JobsTimers } from '../../jobs-host.js';
import { BATCH_JOBS_MAX, type RunTimeEstimate } from '../../protocol/worker/run-time-estimate.js';
import type { Credit } from '../../protocol/worker/worker-messages.js';
import type { Attempt } from '../attempt/attempt.js';
import type { WorkerSettings } from '../worker-options.js';
import type { LoadMeter } from './load-meter.js';

export interface HandlerSlotsSetup {
  readonly settings: WorkerSettings;
  readonly estimate: RunTimeEstimate;
  readonly timers: JobsTimers;
  readonly load: LoadMeter;
}

/**
 * The worker's side of credit (ADR 0403). `granted` is the total of this session; `out` is the part of it
 * that is not used yet. `out` and the attempts held are together never more than the slots, plus a batch
 * while attempts are short (ADR 0410).
 */
export class HandlerSlots {
  /** Handlers under way, those of ended attempts among them. */
  running = 0;
  /** The part of them whose attempt has ended. */
  overrun = 0;
  private held = 0;
  private heldBytes = 0;
  private out = 0;
  private granted = 0;
  private grantedBytes = 0;
  private closed = false;
  private withheld: JobsTimer | undefined = undefined;
  private withheldSince = 0;
  private readonly settings: WorkerSettings;
  private readonly estimate: RunTimeEstimate;
  private readonly timers: JobsTimers;
  private readonly load: LoadMeter;
  private readonly onGrant: () => void;

  /** `onGrant`: a slot that was withheld is granted after all. */
  constructor({ settings, estimate, timers, load }: HandlerSlotsSetup, onGrant: () => void) {
    this.settings = settings;
    this.estimate = estimate;
    this.timers = timers;
    this.load = load;
    this.onGrant = onGrant;
  }

  /** A new session: earlier credit is void. */
  restart(): Credit {
    this.out = 0;
    this.granted = 0;
    this.grantedBytes = this.settings.bytesMax - Math.min(this.heldBytes, this.settings.bytesMax);
    this.grant();
    return this.credit();
  }

  credit(): Credit {
    return { jobs: this.granted, bytes: this.grantedBytes };
  }

  get isFull(): boolean {
    return this.running >= this.settings.slots;
  }

  /** An attempt has arrived. */
  take({ payloadBytes }: Pick<Attempt, 'payloadBytes'>): void {
    this.out -= 1;
    this.held += 1;
    this.heldBytes += payloadBytes;
    this.check();
  }

  /** It has a slot. */
  begin(): void {
    this.running += 1;
    this.check();
  }

  /** It has ended. Another is granted in its place, unless the processor is above its cap. */
  release({ payloadBytes, hasBegun }: Pick<Attempt, 'payloadBytes' | 'hasBegun'>): void {
    if (hasBegun) this.running -= 1;
    this.held -= 1;
    this.heldBytes -= payloadBytes;
    this.grantedBytes += payloadBytes;
    this.grant();
    this.check();
  }

  /** Its attempt has ended and its handler has not: the slot stays taken. */
  startOverrun(): void {
    this.overrun += 1;
  }

  /** The handler of an ended attempt has ended as well. */
  endOverrun(attempt: Pick<Attempt, 'payloadBytes' | 'hasBegun'>): void {
    this.overrun -= 1;
    this.release(attempt);
  }

  close(): void {
    this.closed = true;
    this.withheld?.cancel();
    this.out = 0;
  }

  /** Attempts that may be granted now; below 0 when attempts have become long. */
  private get free(): number {
    return this.settings.slots + this.estimate.batchSize - this.out - this.held;
  }

  private grant(): void {
    const { free } = this;
    if (this.closed || free <= 0) return;
    if (this.tooBusy()) return this.withhold();
    this.withheldSince = 0;
    this.granted += free;
    this.out += free;
  }

  private tooBusy(): boolean {
    const { cpuCap, withholdMsMax } = this.settings;
    if (cpuCap >= 1 || this.load.cpu() <= cpuCap) return false;
    const now = this.timers.now();
    if (this.withheldSince === 0) this.withheldSince = now;
    return now - this.withheldSince < withholdMsMax;
  }

  private withhold(): void {
    if (this.withheld !== undefined) return;
    this.withheld = this.timers.setTimer(50, () => {
      this.withheld = undefined;
      this.grant();
      if (this.free <= 0) this.onGrant();
    });
  }

  /**
   * On in production: a worker whose credit does not add up must stop before it runs more than it granted.
   */
  private check(): void {
    const { out, running, held, settings } = this;
    const fits = out + held <= settings.slots + BATCH_JOBS_MAX && running <= settings.slots;
    if (fits && running <= held && (out >= 0 || this.closed)) return;
    const counts = `${out} credits out, ${held} held, ${running} running, ${settings.slots} slots`;
    assert.fail(`worker: ${out < 0 ? `${-out} more jobs than credit, ` : ''}${counts}`);
  }
}
