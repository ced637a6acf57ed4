import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { toError } from '../errors/thrown-value.js';
import type { Envelope } from '../message/envelope.js';
import type { FailureCircumstances, FailureReport } from './failure-report.js';

/**
 * A failure of one of these would repeat at once after a resume: there is no state, or no turn gets through.
 */
const UNRESUMABLE: readonly string[] = ['state', 'beforeTurn', 'afterTurn'];

/** The failed actor's side of supervision: the report to its parent, and the directive that comes back. */
export class ActorFailures {
  private readonly runtime: Parts<
    'asks' | 'childLists' | 'log' | 'executor' | 'signals' | 'ready' | 'restarts' | 'stashes'
  >;
  private readonly onGuardianFailed: (report: FailureReport) => void;

  constructor(runtime: ActorFailures['runtime'], onGuardianFailed: (report: FailureReport) => void) {
    this.runtime = runtime;
    this.onGuardianFailed = onGuardianFailed;
  }

  /** Closes the user lane until the parent has decided. The message itself counts as handled. */
  failed(
    cell: ActorCell,
    thrown: unknown,
    handler: number,
    envelope: Envelope | undefined,
    { hook, origin = cell, isCutOff = false, isFinal = false, messagesThere }: FailureCircumstances = {},
  ): void {
    const error = toError(thrown);
    const message = hook ?? (cell.type.definition['~handlerNames'][handler] as string);
    if (hook === undefined) this.runtime.stashes.takeOutLatest(cell);
    if (envelope !== undefined) this.runtime.asks.failed(envelope, error);
    if (!cell.isCurrent) return;
    if (cell.cold?.ending !== undefined)
      return this.runtime.log.logIgnoredFailure(cell, message, error, 'the actor is ending already');
    const at = this.runtime.executor.coarseNow;
    const unresumable = isCutOff || (hook !== undefined && UNRESUMABLE.includes(hook));
    const report: FailureReport = {
      child: cell,
      origin,
      error,
      message,
      at,
      unresumable,
      isFinal,
      messagesThere,
    };
    cell.markFailed();
    this.report(cell, report);
  }

  /**
   * The report is a signal of the parent, or goes to the thread of the supervisor; a failure of the guardian
   * ends the system.
   */
  report(cell: ActorCell, report: FailureReport): void {
    const cold = cell.ensureCold();
    cold.failure = report;
    if (cold.home !== undefined) return cold.home.failed(report);
    const parent = this.runtime.childLists.parentOf(cell.slot);
    if (parent === undefined) this.onGuardianFailed(report);
    else parent.putSignal({ kind: 'child-failed', report });
  }

  /** The parent's decision, in a turn of the failed actor. */
  directed(cell: ActorCell, directive: 'resume' | 'restart', report: FailureReport): void {
    if (directive === 'resume') this.resume(cell);
    else this.runtime.restarts.begin(cell, report);
  }

  private resume(cell: ActorCell): void {
    if (!cell.isFailed) return;
    const failure = cell.cold?.failure;
    // An actor that has ended, or that would fail again at once, has nothing to resume.
    if (failure?.ended !== undefined || failure?.unresumable === true)
      return this.runtime.restarts.begin(cell, failure);
    cell.clearFailed();
    if (cell.cold !== undefined) {
      cell.cold.failure = undefined;
      cell.cold.route?.resume?.();
      this.runtime.signals.handleDeferred(cell);
    }
    this.resumeChildren(cell);
  }

  /** Children whose failure was escalated wait for this decision too. */
  private resumeChildren(cell: ActorCell): void {
    for (const child of this.runtime.childLists.childrenOf(cell)) {
      const report = child.cold?.failure;
      if (report !== undefined) child.putSignal({ kind: 'directive', directive: 'resume', report });
    }
  }
}
