import { OptionError } from '../errors/error-classes.js';
import { INSPECT } from '../inspect-symbol.js';
import type { EnteredPhase } from '../lifecycle/phase-transitions.js';
import { AWAITING, FAULT } from '../mailbox/status-word.js';
import { enveloped } from '../message/envelope.js';
import { PhaseTimerEnvelope } from '../message/phase-timer-envelope.js';
import type { TimerContext } from '../middleware/hooks/hook-contexts.js';
import type { CellRef, TimerTerms } from '../ref/cell-ref.js';
import type { ActorTimer } from '../ref/timer-methods.js';
import { TimerNode } from '../timers/timer-wheel.js';
import type { ActorCell } from './actor-cell.js';
import { STOP_WITHIN_MS_DEFAULT } from './actor-type.js';
import type { Parts } from './runtime-parts.js';

const MS_MAX = 2 ** 31 - 1;

/** The timers of one actor: a list through the timers themselves, and the keyed ones by key. */
export class CellTimers {
  first: CellTimer | undefined = undefined;
  byKey: Map<string, CellTimer> | undefined = undefined;
  killer: Callback | undefined = undefined;
  receiveTimeout: ReceiveTimeout | undefined = undefined;

  /** Armed by the actor itself. */
  get count(): number {
    let count = this.receiveTimeout === undefined ? 0 : 1;
    for (let timer = this.first; timer !== undefined; timer = timer.next) count += 1;
    return count;
  }
}

/** A message that is sent when the timer fires. */
class CellTimer extends TimerNode implements ActorTimer {
  previous: CellTimer | undefined = undefined;
  next: CellTimer | undefined = undefined;
  readonly terms: TimerTerms;
  readonly target: CellRef;
  readonly handler: number;
  readonly payload: unknown;
  readonly timerContext: TimerContext | undefined;
  /** The phase that it ends with. */
  readonly phase: EnteredPhase | undefined;
  private readonly timers: ActorTimers;

  constructor(
    timers: ActorTimers,
    terms: TimerTerms,
    target: CellRef,
    handler: number,
    payload: unknown,
    phase: EnteredPhase | undefined,
  ) {
    super();
    this.timers = timers;
    this.terms = terms;
    this.target = target;
    this.handler = handler;
    this.payload = payload;
    this.phase = phase;
    this.timerContext = timers.runtime.sendHooks.timerContextFor(terms.owner);
  }

  get active(): boolean {
    return this.bucket >= 0;
  }

  cancel(): void {
    if (this.active) this.timers.end(this);
  }

  override expire(): void {
    this.timers.fire(this);
  }

  toJSON(): string {
    return 'timer';
  }

  [INSPECT](): string {
    return 'timer';
  }
}

class Callback extends TimerNode {
  readonly explicit: boolean;
  private readonly run: () => void;
  constructor(run: () => void, explicit = false) {
    super();
    this.run = run;
    this.explicit = explicit;
  }
  override expire(): void {
    this.run();
  }
}

/**
 * Fires when an actor has handled nothing for `ms`. Compares times only when it fires, so messages pay
 * nothing.
 */
class ReceiveTimeout extends TimerNode {
  lastMessageAt: number;
  readonly ms: number;
  private readonly timers: ActorTimers;
  private readonly cell: ActorCell;

  constructor(timers: ActorTimers, cell: ActorCell, ms: number, now: number) {
    super();
    this.timers = timers;
    this.cell = cell;
    this.ms = ms;
    this.lastMessageAt = now;
  }

  /** An actor that awaits or has failed is not idle: its time begins when that is over. */
  override expire(): void {
    const { host, wheel } = this.timers.runtime;
    const now = host.now();
    if ((this.cell.status & (AWAITING | FAULT)) !== 0) this.lastMessageAt = now;
    if (this.lastMessageAt + this.ms <= now) {
      this.lastMessageAt = now;
      this.cell.putSignal({ kind: 'idle' });
    }
    wheel.arm(this, this.lastMessageAt + this.ms);
  }
}

/** The timers of all actors of a system, on one wheel. They end with the incarnation that armed them. */
export class ActorTimers {
  readonly runtime: Parts<'executor' | 'host' | 'sendHooks' | 'wheel'>;

  constructor(runtime: ActorTimers['runtime']) {
    this.runtime = runtime;
  }

  arm(terms: TimerTerms, target: CellRef, handler: number, payload: unknown): ActorTimer {
    const { owner, ms, key } = terms;
    owner.checkCurrent(terms.repeat ? 'every' : 'after');
    if (!(ms >= 0 && ms <= MS_MAX))
      throw new OptionError('timer.ms', ms, `needed a number from 0 to ${MS_MAX}`);
    if (terms.repeat && ms < 1) throw new OptionError('timer.ms', ms, 'a repeated timer needs at least 1 ms');
    const phase = this.phaseOf(owner, key);
    if (key !== undefined) this.cancel(owner, key);
    const timer = new CellTimer(this, terms, target, handler, payload, phase);
    const own = this.of(owner);
    timer.next = own.first;
    if (own.first !== undefined) own.first.previous = timer;
    own.first = timer;
    if (key !== undefined) {
      own.byKey ??= new Map();
      own.byKey.set(key, timer);
    }
    this.runtime.wheel.arm(timer, this.runtime.executor.now() + ms);
    return timer;
  }

  cancel(owner: ActorCell, key: string): boolean {
    const timer = owner.cold?.timers?.byKey?.get(key);
    if (timer === undefined) return false;
    this.end(timer);
    return true;
  }

  cancelAll(owner: ActorCell): void {
    const own = owner.cold?.timers;
    if (own === undefined) return;
    for (let timer = own.first; timer !== undefined; timer = timer.next) this.runtime.wheel.cancel(timer);
    if (own.killer !== undefined) this.runtime.wheel.cancel(own.killer);
    if (own.receiveTimeout !== undefined) this.runtime.wheel.cancel(own.receiveTimeout);
    (owner.cold as { timers: CellTimers | undefined }).timers = undefined;
  }

  /** A restart ends all timers of the actor except the time limit of a requested stop or drain. */
  endIncarnation(owner: ActorCell): void {
    const killer = owner.cold?.timers?.killer;
    if (killer !== undefined) (owner.cold?.timers as CellTimers).killer = undefined;
    this.cancelAll(owner);
    if (killer !== undefined) this.of(owner).killer = killer;
  }

  /** Ends the timers that end with this phase. */
  endPhase(owner: ActorCell, phase: EnteredPhase): void {
    let timer = owner.cold?.timers?.first;
    while (timer !== undefined) {
      const { next } = timer;
      if (timer.phase === phase) this.end(timer);
      timer = next;
    }
  }

  fire(timer: CellTimer): void {
    const { terms, target } = timer;
    if (terms.repeat) {
      const next = timer.due + terms.ms;
      this.runtime.wheel.arm(timer, Math.max(next, this.runtime.executor.now()));
    } else {
      this.unlink(timer);
    }
    const { timerContext, phase } = timer;
    const { cell } = target;
    const isOfPhase = phase !== undefined && cell === terms.owner;
    const handler = isOfPhase ? enveloped(timer.handler) : timer.handler;
    const payload = isOfPhase
      ? new PhaseTimerEnvelope(cell, timer.handler, timer.payload, phase, this.runtime.executor.now())
      : timer.payload;
    if (timerContext === undefined) cell.type.delivery.tell(cell, handler, payload);
    else
      this.runtime.sendHooks.sendForTimer(timerContext, () =>
        cell.type.delivery.tell(cell, handler, payload),
      );
  }

  end(timer: CellTimer): void {
    this.runtime.wheel.cancel(timer);
    this.unlink(timer);
  }

  /**
   * Kills the actor after this time, unless it has ended by then. The earlier of two limits holds; an
   * `explicit` limit, given with the stop, holds in any case.
   */
  killAfter(cell: ActorCell, ms: number | undefined, explicit = false): void {
    const { ref } = cell;
    const own = this.of(cell);
    const due = this.runtime.executor.now() + (ms ?? STOP_WITHIN_MS_DEFAULT);
    if (own.killer !== undefined) {
      if (!explicit && (own.killer.explicit || own.killer.due <= due)) return;
      this.runtime.wheel.cancel(own.killer);
    }
    own.killer = new Callback(() => ref.cell.requestKill(), explicit);
    this.runtime.wheel.arm(own.killer, due);
  }

  /** For the runtime itself. */
  once(ms: number, run: () => void): void {
    this.runtime.wheel.arm(new Callback(run), this.runtime.executor.now() + ms);
  }

  setReceiveTimeout(cell: ActorCell, ms: number | undefined): void {
    const own = this.of(cell);
    if (own.receiveTimeout !== undefined) this.runtime.wheel.cancel(own.receiveTimeout);
    own.receiveTimeout = undefined;
    if (ms === undefined) return;
    if (!(ms >= 1 && ms <= MS_MAX))
      throw new OptionError('receiveTimeout.ms', ms, `needed a number from 1 to ${MS_MAX}`);
    cell.useSlowPath();
    const now = this.runtime.executor.now();
    own.receiveTimeout = new ReceiveTimeout(this, cell, ms, now);
    this.runtime.wheel.arm(own.receiveTimeout, now + ms);
  }

  /**
   * The phase that a new timer ends with: that of the `enter` that arms it, or that of the timer which it
   * replaces, unless `become` was called meanwhile.
   */
  private phaseOf(owner: ActorCell, key: string | undefined): EnteredPhase | undefined {
    const { cold } = owner;
    const phase = cold?.phase;
    if (phase === undefined || phase.isEntering) return phase;
    const replaced = key === undefined ? undefined : cold?.timers?.byKey?.get(key);
    return replaced?.phase === phase && owner.type.phase === phase.name ? phase : undefined;
  }

  private of(owner: ActorCell): CellTimers {
    const cold = owner.ensureCold();
    cold.timers ??= new CellTimers();
    return cold.timers;
  }

  private unlink(timer: CellTimer): void {
    const own = timer.terms.owner.cold?.timers;
    const { previous, next, terms } = timer;
    if (previous !== undefined) previous.next = next;
    else if (own !== undefined) own.first = next;
    if (next !== undefined) next.previous = previous;
    timer.previous = undefined;
    timer.next = undefined;
    if (terms.key !== undefined && own?.byKey?.get(terms.key) === timer) own.byKey.delete(terms.key);
  }
}
