import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { UnsettledHandler } from '../invoker/unsettled-handler.js';

/** The phase that an actor has entered. Timers that its `enter` arms end with it. */
export class EnteredPhase {
  readonly name: string;
  /** `enter` has not settled: no other code of the actor runs. */
  isEntering = true;
  hasEnded = false;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Moves actors whose phases have hooks from one phase to the next, when the handler that called `become` has
 * settled and before the next message. Only the last `become` of a handler counts, and one to the phase that
 * the actor is in changes nothing.
 *
 *   handler → timers of the phase end → `exit` → `enter` of the next phase → messages again
 *
 * An end or a restart of the actor runs neither hook: it has hooks of its own.
 */
export class PhaseTransitions {
  private readonly runtime: Parts<'failures' | 'hooks' | 'timers'>;

  constructor(runtime: PhaseTransitions['runtime']) {
    this.runtime = runtime;
  }

  /** In a turn of the actor, between two messages; also after `started`. */
  move(cell: ActorCell): void {
    const { phase } = cell.type;
    if (cell.isStopping || !cell.type.hasPhaseHooks || phase === undefined) return;
    const left = cell.cold?.phase;
    if (left === undefined) this.enter(cell, phase);
    else if (left.name !== phase) this.leave(cell, left);
  }

  private leave(cell: ActorCell, left: EnteredPhase): void {
    left.hasEnded = true;
    this.runtime.timers.endPhase(cell, left);
    cell.ensureCold().phase = undefined;
    this.runHook(cell, left.name, 'exit', (settled) => this.move(settled));
  }

  private enter(cell: ActorCell, name: string): void {
    const entered = new EnteredPhase(name);
    cell.ensureCold().phase = entered;
    this.runHook(cell, name, 'enter', (settled) => {
      entered.isEntering = false;
      this.move(settled);
    });
  }

  /** After a failure that is resumed, the move goes on as if the hook had settled. */
  private runHook(
    cell: ActorCell,
    phase: string,
    hook: 'enter' | 'exit',
    then: (cell: ActorCell) => void,
  ): void {
    const what = `${phase}.${hook}`;
    const run = cell.type.spec.phases?.[phase]?.[hook] as ((ctx: ActorCell) => unknown) | undefined;
    this.runtime.hooks.call(cell, what, run, [], (settled: ActorCell, { error }: UnsettledHandler) => {
      if (error === undefined) return then(settled);
      settled.putSignal({ kind: 'phase-changed' });
      const entered = settled.cold?.phase;
      if (entered !== undefined) entered.isEntering = false;
      this.runtime.failures.failed(settled, error.thrown, -1, undefined, { hook: what });
    });
  }
}
