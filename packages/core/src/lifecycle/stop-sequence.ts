import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { AbortedError } from '../errors/error-classes.js';
import { STOPPING, TERMINATED } from '../mailbox/status-word.js';
import type { StopReason } from '../runtime-event.js';
import type { Stop } from './ending-stage.js';

/**
 * Stop and kill of an actor. Every step runs in a turn of the actor itself, and every step that may take time
 * (a hook, a child) ends in another turn, so nothing ever blocks.
 *
 *   current message → `stopping` → children, last started first → `stopped` → terminated
 */
export class StopSequence {
  private readonly runtime: Parts<'asks' | 'childLists' | 'hooks' | 'termination' | 'timers'>;

  constructor(runtime: StopSequence['runtime']) {
    this.runtime = runtime;
  }

  begin(cell: ActorCell): void {
    cell.clearStopRequest();
    if (cell.isDraining && this.hasBacklog(cell)) return;
    this.stopBecause(cell, cell.isDraining ? 'drained' : 'stopped');
  }

  /**
   * A draining actor that cannot run (suspended, say) keeps its backlog: only a kill or its time limit ends
   * it.
   */
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
    const stop: Stop = { kind: 'stop', reason, stage: 'current-message' };
    cold.ending = stop;
    cold.handlerSignals?.abortAll(new AbortedError(cell.path, 'the actor is stopping'));
    this.runtime.timers.killAfter(cell, cell.type.spec.stopWithinMs);
    if (!cell.isAwaiting) this.runStoppingHook(cell, stop);
  }

  /** The common short way: no hooks, no children, nothing running. */
  private hasNothingToEnd(cell: ActorCell): boolean {
    const { stopping, stopped } = cell.type.spec;
    if (stopping !== undefined || stopped !== undefined) return false;
    const { cold } = cell;
    if (cold === undefined) return true;
    return cold.awaiting === undefined && cold.handlerSignals === undefined && cold.lastChild === 0;
  }

  /** A handler or hook has settled: a stop that waited for it goes on. */
  messageSettled(cell: ActorCell): void {
    const ending = cell.cold?.ending;
    if (ending?.kind === 'stop' && ending.stage === 'current-message' && !cell.isAwaiting)
      this.runStoppingHook(cell, ending);
  }

  private runStoppingHook(cell: ActorCell, stop: Stop): void {
    stop.stage = 'stopping-hook';
    this.runtime.hooks.run(cell, 'stopping', [], (settled, call) => {
      this.runtime.hooks.logFailure(settled, 'stopping', call);
      stop.stage = 'children';
      this.stopNextChild(settled, stop);
    });
  }

  stopNextChild(cell: ActorCell, stop: Stop): void {
    const child = this.runtime.childLists.lastStartedOf(cell);
    if (child !== undefined) child.requestStop();
    else if (stop.reason === 'killed') this.runtime.termination.terminate(cell, 'killed');
    else this.runStoppedHook(cell, stop);
  }

  private runStoppedHook(cell: ActorCell, stop: Stop): void {
    stop.stage = 'stopped-hook';
    this.runtime.hooks.run(cell, 'stopped', [], (settled, call) => {
      this.runtime.hooks.logFailure(settled, 'stopped', call);
      this.runtime.termination.terminate(settled, stop.reason);
    });
  }

  kill(cell: ActorCell): void {
    cell.beginKill();
    const cold = cell.ensureCold();
    cell.abortHandlers('the actor was killed');
    const awaited = cold.awaiting?.envelope;
    cold.awaiting?.onAbandoned?.();
    cold.awaiting = undefined;
    if (awaited !== undefined) this.runtime.asks.undelivered(awaited, 'stopped');
    const children = this.runtime.childLists.childrenOf(cell);
    if (children.length === 0) {
      this.runtime.termination.terminate(cell, 'killed');
      return;
    }
    cold.ending = { kind: 'stop', reason: 'killed', stage: 'children' };
    for (const child of children) child.requestKill();
  }
}
