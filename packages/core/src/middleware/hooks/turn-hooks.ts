import type { ActorCell } from '../../actor/actor-cell.js';
import type { Parts } from '../../actor/runtime-parts.js';
import type { ResumeOn } from '../../define/actor-context.js';
import type { ResumeCondition } from '../../message/suspend-reason.js';
import type { InvokeCode, InvokeResult } from '../../run-queue/invoke-result.js';
import { COMPLETED, STOPPED, YIELDED } from '../../run-queue/invoke-result.js';
import type { Middleware } from '../middleware.js';
import type { Pipeline } from '../pipeline.js';
import { failActorForHook } from './fail-actor-for-hook.js';
import { TurnHookContext } from './hook-contexts.js';

const COMPLETED_ALL: InvokeResult = Object.freeze({ kind: 'completed', readyHint: false });
const COMPLETED_BUT_READY: InvokeResult = Object.freeze({ kind: 'completed', readyHint: true });
const HAS_YIELDED: InvokeResult = Object.freeze({ kind: 'yielded' });
const HAS_STOPPED: InvokeResult = Object.freeze({ kind: 'stopped' });
const SETTLEMENT: ResumeCondition = Object.freeze({ on: 'settled' });
const IS_AWAITING: InvokeResult = Object.freeze({
  kind: 'suspended',
  reason: 'awaiting',
  resumeOn: SETTLEMENT,
});

const IS_MUTED: InvokeResult = Object.freeze({
  kind: 'suspended',
  reason: 'backpressure',
  resumeOn: Object.freeze({ on: 'capacity' }),
});
/** Waits for the restart of a sibling. */
const HAS_FAILED: InvokeResult = Object.freeze({
  kind: 'suspended',
  reason: 'fault',
  resumeOn: SETTLEMENT,
});

/** Runs turns through an actor's middleware. Hooks that were entered are left again, in reverse. */
export class TurnHooks {
  private readonly runtime: Parts<'failures' | 'host' | 'invoker'>;
  private turn: TurnHookContext | undefined = undefined;

  constructor(runtime: TurnHooks['runtime']) {
    this.runtime = runtime;
  }

  enterTurn(cell: ActorCell): number {
    const { turns } = cell.type.pipeline as Pipeline;
    if (turns.length === 0) return 0;
    const view = new TurnHookContext(cell, this.runtime.host.now());
    this.turn = view;
    for (let i = 0; i < turns.length; i += 1) {
      const middleware = turns[i] as Middleware;
      try {
        middleware.beforeTurn?.(view);
      } catch (error) {
        failActorForHook(this.runtime.failures, cell, middleware, 'beforeTurn', error);
        return i;
      }
    }
    return turns.length;
  }

  leaveTurn(cell: ActorCell, code: InvokeCode, entered: number): void {
    const view = this.turn;
    if (view === undefined) return;
    this.turn = undefined;
    view.endedAt = this.runtime.host.now();
    view.handled = this.runtime.invoker.handled;
    const { turns } = cell.type.pipeline as Pipeline;
    const result = this.resultOf(cell, code);
    for (let i = entered - 1; i >= 0; i -= 1) {
      const middleware = turns[i] as Middleware;
      try {
        middleware.afterTurn?.(view, result);
      } catch (error) {
        failActorForHook(this.runtime.failures, cell.ref.cell, middleware, 'afterTurn', error);
      }
    }
  }

  /** The integer of the hot path as the union that hooks see. */
  private resultOf(cell: ActorCell, code: InvokeCode): InvokeResult {
    if (code === COMPLETED) return cell.queue.length > 0 ? COMPLETED_BUT_READY : COMPLETED_ALL;
    if (code === YIELDED) return HAS_YIELDED;
    if (code === STOPPED) return HAS_STOPPED;
    const failure = cell.cold?.failure;
    if (cell.isFailed && failure !== undefined) return { kind: 'failed', error: failure.error };
    const open = cell.cold?.suspensions.at(-1);
    if (open !== undefined)
      return { kind: 'suspended', reason: open.reason, resumeOn: conditionOf(open.until) };
    if (cell.isAwaiting) return IS_AWAITING;
    return cell.isMuted ? IS_MUTED : HAS_FAILED;
  }
}

function conditionOf(until: ResumeOn): ResumeCondition {
  if (until.on === 'capacity') return { on: 'capacity' };
  return until.on === 'settled' ? { on: 'settled' } : until;
}
