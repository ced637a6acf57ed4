import type { ActorCell } from '../actor/actor-cell.js';
import type { Stopping } from '../actor/cold-state.js';
import type { Runtime } from '../actor/runtime.js';
import type { StopReason } from '../events.js';
import { STOPPING, TERMINATED } from '../mailbox/status-word.js';
import type { AnyRef } from '../ref/actor-ref.js';
import type { RefBase } from '../ref/ref-class.js';
import { logHookFailure, runHook } from './lifecycle-hooks.js';

/**
 * How an actor ends. Every step runs in a turn of the actor itself, and every step that may take time (a hook, a child)
 * ends in another turn, so nothing ever blocks.
 *
 *   current message → `stopping` → children, youngest first → `stopped` → gone
 */
export class StopSequence {
  private readonly runtime: Runtime;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  begin(cell: ActorCell): void {
    cell.clearStopRequest();
    const draining = cell.isDraining;
    if (draining && this.hasBacklog(cell)) return;
    this.stopBecause(cell, draining ? 'drained' : 'stopped');
  }

  /** A draining actor that cannot run (suspended, say) still has its backlog: only a kill or its time limit ends it. */
  private hasBacklog(cell: ActorCell): boolean {
    return cell.queue.length > 0 || cell.isAwaiting;
  }

  private stopBecause(cell: ActorCell, reason: StopReason): void {
    if ((cell.status & (STOPPING | TERMINATED)) !== 0) return;
    cell.beginStop();
    if (this.hasNothingToEnd(cell)) {
      this.runtime.termination.terminate(cell, reason);
      return;
    }
    const cold = cell.ensureCold();
    const stopping: Stopping = { reason, stage: 'current-message', restart: undefined };
    cold.stopping = stopping;
    cold.abort?.abort();
    this.runtime.timers.killAfter(cell, cell.type.spec.stopWithinMs);
    if (!cell.isAwaiting) this.continueStop(cell, stopping);
  }

  /** The common short way: no hooks, no children, nothing running. */
  private hasNothingToEnd(cell: ActorCell): boolean {
    const { stopping, stopped } = cell.type.spec;
    if (stopping !== undefined || stopped !== undefined) return false;
    const { cold } = cell;
    if (cold === undefined) return true;
    return cold.awaiting === undefined && cold.abort === undefined && cold.lastChild === 0;
  }

  continueStop(cell: ActorCell, stopping: Stopping): void {
    stopping.stage = 'stopping-hook';
    runHook(cell, 'stopping', [], (settled, awaiting) => {
      logHookFailure(settled, 'stopping', awaiting);
      stopping.stage = 'children';
      this.stopNextChild(settled, stopping);
    });
  }

  stopNextChild(cell: ActorCell, stopping: Stopping): void {
    const child = this.runtime.childLists.lastStartedOf(cell);
    if (child !== undefined) {
      child.requestStop();
      return;
    }
    if (stopping.restart !== undefined) this.runtime.restarts.finish(cell, stopping.restart);
    else if (stopping.reason === 'killed') this.runtime.termination.terminate(cell, 'killed');
    else this.finishStop(cell, stopping);
  }

  childStopped(cell: ActorCell, child: AnyRef): void {
    const stopping = cell.cold?.stopping;
    if (stopping?.stage === 'children') this.stopNextChild(cell, stopping);
    else if (stopping === undefined) this.runtime.supervisor.childEnded(cell, child as RefBase);
  }

  private finishStop(cell: ActorCell, stopping: Stopping): void {
    stopping.stage = 'stopped-hook';
    runHook(cell, 'stopped', [], (settled, awaiting) => {
      logHookFailure(settled, 'stopped', awaiting);
      this.runtime.termination.terminate(settled, stopping.reason);
    });
  }

  kill(cell: ActorCell): void {
    cell.beginKill();
    const cold = cell.ensureCold();
    cold.abort?.abort();
    const awaited = cold.awaiting?.envelope;
    cold.awaiting?.onAbandoned?.();
    cold.awaiting = undefined;
    if (awaited !== undefined) this.runtime.asks.undelivered(awaited, 'stopped');
    const children = this.runtime.childLists.childrenOf(cell);
    if (children.length === 0) {
      this.runtime.termination.terminate(cell, 'killed');
      return;
    }
    cold.stopping = { reason: 'killed', stage: 'children', restart: undefined };
    for (const child of children) child.requestKill();
  }
}
