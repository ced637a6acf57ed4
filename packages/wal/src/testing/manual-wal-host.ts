// A host whose time stands still until a test moves it, for logs on a simulated disk.

import type { HostTimer } from '@troupe/core';
import { ManualHost, SeededRandom } from '@troupe/core/testing';
import type { WalHost } from '../host/wal-host.js';

const WALL_START = 1_700_000_000_000;

export class ManualWalHost implements WalHost {
  /** Codes with which the log called `exit`. */
  readonly exits: number[] = [];
  private readonly generator: SeededRandom;
  private clock = new ManualHost({ wallStart: WALL_START });

  constructor(seed = 1) {
    this.generator = new SeededRandom(seed);
  }

  now(): number {
    return this.clock.now();
  }

  wallNow(): number {
    return this.clock.wallNow();
  }

  random(): number {
    return this.generator.next();
  }

  setTimer(ms: number, run: () => void): unknown {
    return this.clock.setTimer(ms, run);
  }

  clearTimer(timer: unknown): void {
    (timer as HostTimer | undefined)?.cancel();
  }

  defer(run: () => void): void {
    this.clock.soon(run);
  }

  later(run: () => void): void {
    this.clock.later(run);
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  /** The process is gone, and its timers and deferred callbacks with it. */
  killProcess(): void {
    const time = this.clock.now();
    this.clock = new ManualHost({ wallStart: WALL_START });
    this.clock.moveTo(time);
  }

  /** Runs the deferred callbacks; false if there were none. */
  runDeferred(): boolean {
    return this.clock.runCallbacks();
  }

  /** Moves time to the next timer within `withinMs` and runs it; without one, by `withinMs`: false. */
  advance(withinMs: number): boolean {
    const until = this.clock.now() + withinMs;
    const due = this.clock.nextDue();
    const isTimerDue = due !== undefined && due <= until;
    this.clock.moveTo(isTimerDue ? due : until);
    return isTimerDue;
  }
}
