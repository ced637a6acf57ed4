// Hot path: every look for records of other threads.

import { AdaptiveSpin } from '../thread/adaptive-spin.js';

/** Looks in one turn of the event loop: some microseconds. */
const LOOKS_PER_TURN = 64;
/** Looks in one microtask, behind which others wait. */
const LOOKS_PER_HOP = 8;
/** Microtasks without a record before the event loop has its turn. */
const HOPS_MAX = 16;
/** Records may follow each other without end: timers and sockets have their turn after this time. */
const TURN_MS_MAX = 0.5;

const resolved = Promise.resolve();
const clock = globalThis.performance;

/** The records of other threads, as the loop that looks for them sees them. */
export interface RecordSource {
  /** Publishes what was written, and reads what has come; false when nothing has. */
  exchange(): boolean;
  /** Whether there is something to read. */
  readonly hasRecords: boolean;
  /** Actors of this thread are ready to run: no time to look for long. */
  readonly isBusy: boolean;
  /** Nothing was found for long. False when something came at the last moment. */
  sleep(): boolean;
}

/**
 * Looks for records in microtasks while they follow each other closely, then in turns of the event loop, then
 * sleeps until it is woken.
 */
export class PollLoop {
  private readonly source: RecordSource;
  private readonly spin = new AdaptiveSpin();
  private isRunning = false;
  private isStopped = false;
  private turnAt = 0;
  private hops = 0;

  constructor(source: RecordSource) {
    this.source = source;
  }

  wake(): void {
    this.spin.woken(clock.now());
    if (this.isRunning) return;
    this.isRunning = true;
    setImmediate(this.turn);
  }

  stop(): void {
    this.isStopped = true;
  }

  private readonly turn = (): void => {
    if (this.isStopped) return;
    const { source, spin } = this;
    this.turnAt = clock.now();
    if (this.look(source.isBusy ? 1 : LOOKS_PER_TURN)) return this.found();
    // Actors that run have the event loop turn anyway: no thread needs to ring.
    if (source.isBusy || !spin.isSpent(clock.now()) || !source.sleep()) {
      setImmediate(this.turn);
      return;
    }
    spin.slept();
    this.isRunning = false;
  };

  private look(looks: number): boolean {
    const { source } = this;
    if (source.exchange()) return true;
    for (let left = looks; left > 0; left -= 1) if (source.hasRecords) return source.exchange();
    return false;
  }

  /** Reactions and actors that the records have woken run before the next look. */
  private found(): void {
    const now = clock.now();
    this.spin.found(now);
    this.hops = 0;
    if (now - this.turnAt < TURN_MS_MAX) void resolved.then(this.hop);
    else setImmediate(this.turn);
  }

  private readonly hop = (): void => {
    if (this.isStopped) return;
    this.hops += 1;
    const isBusy = this.source.isBusy;
    if (this.look(isBusy ? 0 : LOOKS_PER_HOP)) return this.found();
    if (this.hops < HOPS_MAX) void resolved.then(this.hop);
    else setImmediate(this.turn);
  };
}
