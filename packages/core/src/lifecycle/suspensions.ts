import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { ResumeOn, SuspensionToken } from '../define/actor-context.js';
import { OptionError } from '../errors/error-classes.js';
import { INSPECT } from '../inspect-symbol.js';
import type { SuspendReason } from '../message/suspend-reason.js';
import { checkOptionNames } from '../option-check.js';
import type { CellRef } from '../ref/cell-ref.js';
import { checkRefArgument } from '../ref/check-ref-argument.js';
import { TimerNode } from '../timers/timer-wheel.js';

/**
 * One reason why an actor handles no messages. Ends once: by its token, its condition, or the actor's end.
 */
export class Suspension extends TimerNode implements SuspensionToken {
  active = true;
  readonly reason: SuspendReason;
  readonly until: ResumeOn;
  readonly since: number;
  /** Made from outside: it outlives a restart of the actor. */
  readonly byOperator: boolean;
  private readonly onEnd: (suspension: Suspension) => void;

  constructor(
    reason: SuspendReason,
    until: ResumeOn,
    since: number,
    byOperator: boolean,
    onEnd: (s: Suspension) => void,
  ) {
    super();
    this.reason = reason;
    this.until = until;
    this.since = since;
    this.byOperator = byOperator;
    this.onEnd = onEnd;
  }

  /** The actor whose mailbox must have room. */
  get roomIn(): ActorCell | undefined {
    return this.until.on === 'capacity' ? (this.until.of as CellRef).cell : undefined;
  }

  resume(): void {
    if (!this.active) return;
    this.active = false;
    this.onEnd(this);
  }

  toJSON(): string {
    return 'suspension';
  }

  [INSPECT](): string {
    return 'suspension';
  }

  override expire(): void {
    this.resume();
  }
}

const RESUME_OPTIONS = ['on', 'ms', 'key', 'of', 'promise'];
const UNTIL_RESUMED: ResumeOn = { on: 'resume' };

/** Opens and ends suspensions, and keeps those that wait for an event. */
export class Suspensions {
  private readonly runtime: Parts<
    'backPressure' | 'events' | 'executor' | 'host' | 'ready' | 'waitGraph' | 'wheel'
  >;
  /** How many wait for room in a mailbox. */
  untilRoom = 0;
  /** Several may wait for one key. */
  private readonly byKey = new Map<string, Set<Suspension>>();

  constructor(runtime: Suspensions['runtime']) {
    this.runtime = runtime;
  }

  suspend(
    cell: ActorCell,
    reason: SuspendReason,
    until: ResumeOn = UNTIL_RESUMED,
    byOperator = false,
  ): Suspension {
    if (typeof reason !== 'string' && typeof reason?.user !== 'string')
      throw new OptionError('suspend.reason', reason, 'needed a reason, or { user } with one of your own');
    const { ref } = cell;
    const { runtime } = this;
    const since = runtime.executor.now();
    const suspension = new Suspension(reason, until, since, byOperator, (ended) => this.end(ref, ended));
    this.arm(suspension, until);
    cell.ensureCold().suspensions.push(suspension);
    cell.openSuspension();
    if (runtime.events.hasListeners) runtime.events.publish({ kind: 'suspended', path: cell.path, reason });
    if (suspension.roomIn !== undefined) this.untilRoom += 1;
    if (suspension.roomIn !== undefined && runtime.waitGraph.leadsTo(suspension.roomIn, cell))
      suspension.resume();
    return suspension;
  }

  /** An event has happened: ends every suspension that waits for it. Returns how many. */
  event(key: string): number {
    const waiting = [...(this.byKey.get(key) ?? [])];
    for (const suspension of waiting) suspension.resume();
    return waiting.length;
  }

  /** At a restart: suspensions by the actor itself end, those by an operator stay. */
  endOwn(cell: ActorCell): void {
    for (const suspension of [...(cell.cold?.suspensions ?? [])])
      if (!suspension.byOperator) suspension.resume();
  }

  endAll(cell: ActorCell): void {
    for (const suspension of [...(cell.cold?.suspensions ?? [])]) suspension.resume();
  }

  private arm(suspension: Suspension, until: ResumeOn): void {
    if (typeof until === 'object' && until !== null) checkOptionNames('suspend', until, RESUME_OPTIONS);
    switch (until?.on) {
      case 'after':
        if (!(typeof until.ms === 'number' && until.ms >= 0))
          throw new OptionError('suspend.after.ms', until.ms, 'needed a number of at least 0');
        this.runtime.wheel.arm(suspension, suspension.since + until.ms);
        return;
      case 'event': {
        if (typeof until.key !== 'string')
          throw new OptionError('suspend.event.key', until.key, 'needed a string');
        const waiting = this.byKey.get(until.key) ?? new Set();
        this.byKey.set(until.key, waiting.add(suspension));
        return;
      }
      case 'capacity': {
        const target = checkRefArgument('suspend.of', until.of);
        if (target.isFull) {
          this.runtime.backPressure.waitForRoom(target, () => suspension.resume());
        } else {
          this.runtime.host.soon(() => suspension.resume());
        }
        return;
      }
      case 'settled': {
        const resume = (): void => suspension.resume();
        if (typeof until.promise?.then !== 'function')
          throw new OptionError('suspend.settled.promise', until.promise, 'needed a promise');
        until.promise.then(resume, resume);
        return;
      }
      case 'resume':
        return;
      default:
        until satisfies never;
        throw new OptionError(
          'suspend.on',
          (until as { on?: unknown } | undefined)?.on,
          'needed one of after, event, capacity, settled, resume',
        );
    }
  }

  private end(ref: CellRef, suspension: Suspension): void {
    const { runtime } = this;
    runtime.wheel.cancel(suspension);
    if (suspension.roomIn !== undefined) this.untilRoom -= 1;
    if (suspension.until.on === 'event') this.forgetKey(suspension.until.key, suspension);
    const cell = ref.cell;
    if (cell.isTerminated) return;
    const cold = cell.cold as ColdState;
    cold.suspensions = cold.suspensions.filter((open) => open !== suspension);
    cell.closeSuspension();
    if (runtime.events.hasListeners) {
      const ms = runtime.executor.now() - suspension.since;
      runtime.events.publish({ kind: 'resumed', path: cell.path, reason: suspension.reason, ms });
    }
    runtime.ready.registerReady(cell);
  }

  private forgetKey(key: string, suspension: Suspension): void {
    const waiting = this.byKey.get(key);
    waiting?.delete(suspension);
    if (waiting?.size === 0) this.byKey.delete(key);
  }
}
