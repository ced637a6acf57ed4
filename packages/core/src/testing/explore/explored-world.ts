import type { ActorCell } from '../../actor/actor-cell.js';
import { MisuseError } from '../../errors/error-classes.js';
import { number } from '../../option-check.js';
import type { AnyRef } from '../../ref/actor-ref.js';
import { checkRefArgument } from '../../ref/check-ref-argument.js';
import { type TestSystem, VirtualSystem } from '../test-system.js';
import { VirtualThreads } from '../threads/virtual-threads.js';
import { busyActors } from '../unanswered-ask.js';
import { CrashedError, InvariantError, StuckWorldError } from './explore-errors.js';
import type { ScheduleChoices } from './schedule-choices.js';

/** A crash comes before one of so many turns. */
const CRASH_ONE_IN = 32;
const MESSAGES_SHOWN = 20;

/** A test system that runs by itself: a scenario may await whatever its actors and timers bring about. */
export interface ExploredWorld extends TestSystem {
  /** Checked after every turn: false or an error fails the scenario. */
  invariant(name: string, holds: () => boolean | undefined | void): void;
  /** The actor fails now, as if its handler had thrown; its parent decides. */
  crash(ref: AnyRef): void;
  /** The actor may fail before any turn, so many times in all; once unless given. */
  mayCrash(ref: AnyRef, times?: number): void;
  /** Ends a thread with everything on it, as a crash would; another takes its place. */
  endThread(name: string): void;
  /** Takes from 0 to `maxMs` of virtual time. */
  delay(maxMs: number): Promise<void>;
}

export interface WorldLimits {
  readonly seed: number;
  readonly timeMaxMs: number;
  readonly turnsMax: number;
  /** Beside the main one. */
  readonly threads: number;
}

export class SchedulingWorld extends VirtualSystem implements ExploredWorld {
  readonly crashes: string[] = [];
  private readonly choices: ScheduleChoices;
  private readonly limits: WorldLimits;
  private readonly invariants: { readonly name: string; readonly holds: () => boolean | undefined | void }[] =
    [];
  private readonly crashable: { readonly ref: AnyRef; times: number }[] = [];
  private turns = 0;
  private isDriven = true;

  constructor(choices: ScheduleChoices, limits: WorldLimits) {
    const threads = limits.threads === 0 ? undefined : new VirtualThreads({ count: limits.threads });
    super({ seed: limits.seed, stuckAfterMs: 1_000, threads }, (ready) => choices.choose(ready));
    this.choices = choices;
    this.limits = limits;
  }

  invariant(name: string, holds: () => boolean | undefined | void): void {
    this.invariants.push({ name, holds });
    this.checkInvariants();
  }

  crash(ref: AnyRef): void {
    const cell = checkRefArgument('crash.ref', ref);
    if (cell.isTerminated || cell.isFailed) return;
    this.crashes.push(`${cell.path} at turn ${this.turns}`);
    failNow(cell);
  }

  mayCrash(ref: AnyRef, times = 1): void {
    checkRefArgument('mayCrash.ref', ref);
    this.crashable.push({ ref, times });
  }

  endThread(name: string): void {
    if (this.threads === undefined)
      throw new MisuseError('endThread: this world has no threads; explore with `threads`');
    this.crashes.push(`${name} at turn ${this.turns}`);
    this.threads.end(name);
  }

  delay(maxMs: number): Promise<void> {
    number(0, 1e9)(maxMs, 'delay.maxMs');
    const ms = this.choices.choose(Math.floor(maxMs) + 1);
    return new Promise((done) => void this.host.setTimer(ms, done));
  }

  override step(): boolean {
    for (const one of this.isDriven ? this.crashable : []) {
      if (one.times > 0 && this.readyCount > 0 && this.choices.isRarely(CRASH_ONE_IN)) {
        one.times -= 1;
        this.crash(one.ref);
      }
    }
    const hasRun = super.step();
    if (!hasRun || !this.isDriven) return hasRun;
    this.turns += 1;
    this.checkInvariants();
    if (this.turns > this.limits.turnsMax) throw this.stuck(`no end after ${this.turns} turns`);
    return true;
  }

  /** Runs the scenario to its end; rejects with its error, or that of an invariant. */
  async run(scenario: (world: ExploredWorld) => unknown): Promise<void> {
    let outcome: { readonly error?: unknown } | undefined;
    void Promise.resolve(this)
      .then(scenario)
      .then(
        () => {
          outcome = {};
        },
        (error: unknown) => {
          outcome = { error };
        },
      );
    const isOver = (): boolean => outcome !== undefined;
    await this.settle();
    while (!isOver()) await this.runToNextTimer();
    if (outcome !== undefined && 'error' in outcome) throw outcome.error;
    this.checkInvariants();
  }

  /** The last messages, oldest first. */
  get lastMessages(): readonly string[] {
    return this.executor.lastMessages(MESSAGES_SHOWN);
  }

  /** Ends the world without further crashes and checks. */
  async end(): Promise<void> {
    this.isDriven = false;
    await this[Symbol.asyncDispose]();
  }

  private async runToNextTimer(): Promise<void> {
    const next = this.host.nextDue();
    if (next === undefined) throw this.stuck('the scenario waits, and no actor or timer can go on');
    if (next > this.limits.timeMaxMs)
      throw this.stuck(`no end within ${this.limits.timeMaxMs} ms of virtual time`);
    this.host.moveTo(next);
    await this.settle();
  }

  private stuck(problem: string): StuckWorldError {
    return new StuckWorldError(problem, busyActors(this.system));
  }

  private checkInvariants(): void {
    for (const { name, holds } of this.invariants) {
      let isHeld: boolean;
      try {
        isHeld = holds() !== false;
      } catch (error) {
        throw new InvariantError(name, error);
      }
      if (!isHeld) throw new InvariantError(name);
    }
  }
}

/** Also in the middle of an asynchronous handler, whose own end then comes too late. */
function failNow(cell: ActorCell): void {
  const { failures, ready } = cell.type.runtime;
  const error = new CrashedError(cell.path);
  const call = cell.cold?.awaiting;
  if (call === undefined) return failures.failed(cell, error, -1, undefined, { hook: 'crash' });
  if (call.settled) return;
  call.isPinned = true;
  call.settled = true;
  call.error = { thrown: error };
  cell.markSettled();
  ready.registerReady(cell);
}
