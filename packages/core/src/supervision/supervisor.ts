import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import type { Parts } from '../actor/runtime-parts.js';
import { type SupervisionPolicy, WITHIN_MS_DEFAULT } from '../define/supervision-policy.js';
import { EscalatedError } from '../errors/error-classes.js';
import type { CellRef } from '../ref/cell-ref.js';
import { type Decision, decideDirective } from './decide-directive.js';
import type { FailureReport } from './failure-report.js';
import { GroupRestart } from './group-restart.js';
import { RestartWindow } from './restart-window.js';

/**
 * Failure and restart: the rules, in the order in which they happen.
 *
 * In a turn of the child:
 *   1. A handler, a hook, the state function or a middleware throws. The child is marked as failed: no
 *      message is handled until the parent has decided, signals are. (actor-failures.ts)
 *   2. The parent gets a report as a signal. Without a parent, the system stops with a report.
 *
 * In a turn of the parent:
 *   3. The parent decides by its policy, from facts only: error, restart type, restarts within the window,
 *      consecutive failures. (this file, decide-directive.ts, restart-window.ts)
 *   4. The strategy names the children concerned: the failed one, all, or it and those started later.
 *        resume    the child goes on with its state; so do children whose failure it had escalated
 *        stop      the concerned children end for good, in reverse start order
 *        escalate  the parent fails itself, with the child's error as cause; its own parent decides
 *        restart   each concerned child gets a directive, after the back-off (backoff-delay.ts)
 *
 * In turns of the child again:
 *   5. Restart: its children stop, last started first; `restarting`; a new cell with a new state takes slot,
 *      mailbox and ref of the old one, which is fenced; `started`; messages again. (restart-sequence.ts)
 *   6. Siblings that restart together come to rest in reverse start order and are replaced in start order.
 *      Temporary siblings end instead. (group-restart.ts)
 *
 * A restart is an ending of its own, not a stop (ending-stage.ts). A stop or kill requested meanwhile
 * takes its place; a drain does not: the replacement finishes the backlog. A failure during an ending is
 * logged and changes nothing. A permanent child that ends by itself is reported like a failure
 * (lifecycle/termination.ts) and is restarted in place.
 */
export class Supervisor {
  private readonly runtime: Parts<
    'childLists' | 'log' | 'failures' | 'guardian' | 'host' | 'restarts' | 'stops' | 'timers'
  >;
  private readonly guardianPolicy: SupervisionPolicy;

  constructor(runtime: Supervisor['runtime'], guardianPolicy: SupervisionPolicy) {
    this.runtime = runtime;
    this.guardianPolicy = guardianPolicy;
  }

  childFailed(parent: ActorCell, report: FailureReport): void {
    const { child } = report;
    if (!child.isCurrent || child.cold?.failure !== report) return;
    const { log } = this.runtime;
    // A sibling's failure restarts this one already: one decision is enough.
    if (child.cold.group !== undefined)
      return log.logFailure(report, {
        directive: 'restart',
        why: 'with its siblings, as decided',
        attempt: 0,
        attemptsMax: 0,
      });
    const policy = this.policyOf(parent);
    const decision = this.decide(parent, child.cold, report, policy);
    log.logFailure(report, decision);
    this.apply(parent, report, decision, policy);
  }

  /** An ending goes on when its children have ended. Otherwise a significant child takes its parent along. */
  childStopped(parent: ActorCell, child: CellRef): void {
    const ending = parent.cold?.ending;
    if (ending === undefined) {
      if (child.cell.cold?.significant === true) parent.requestStop();
    } else if (ending.stage === 'children') {
      if (ending.kind === 'restart') this.runtime.restarts.stopNextChild(parent, ending);
      else this.runtime.stops.stopNextChild(parent, ending);
    }
  }

  private policyOf(parent: ActorCell): SupervisionPolicy {
    if (parent === this.runtime.guardian) return this.guardianPolicy;
    return parent.cold?.policy ?? parent.type.spec.supervise ?? {};
  }

  private decide(
    parent: ActorCell,
    cold: ColdState,
    report: FailureReport,
    policy: SupervisionPolicy,
  ): Decision {
    const withinMs = policy.withinMs ?? WITHIN_MS_DEFAULT;
    const resetAfterMs = policy.backoff?.resetAfterMs ?? policy.backoff?.toMs ?? 0;
    const isFirst = report.at - cold.lastFailureAt > resetAfterMs;
    cold.consecutiveFailures = isFirst ? 1 : cold.consecutiveFailures + 1;
    cold.lastFailureAt = report.at;
    return decideDirective({
      error: report.error,
      child: report.child.ref,
      message: report.message,
      policy,
      restartType: cold.restartType,
      childRestarts: cold.ownRestarts?.count(report.at, withinMs) ?? 0,
      allRestarts: parent.cold?.childrenRestarts?.count(report.at, withinMs) ?? 0,
      consecutive: cold.consecutiveFailures,
      random: this.runtime.host.random(),
      ended: report.ended !== undefined,
      unresumable: report.unresumable,
      isFinal: report.isFinal,
    });
  }

  private apply(
    parent: ActorCell,
    report: FailureReport,
    decision: Decision,
    policy: SupervisionPolicy,
  ): void {
    const { child } = report;
    switch (decision.directive) {
      case 'resume':
        return child.putSignal({ kind: 'directive', directive: 'resume', report });
      case 'escalate':
        return this.escalate(parent, report, decision);
      case 'stop':
        for (const concerned of this.concerned(parent, child, policy).reverse()) concerned.release();
        return;
      case 'restart':
        return this.restart(parent, report, decision, policy);
      default:
        return decision.directive satisfies never;
    }
  }

  private escalate(parent: ActorCell, report: FailureReport, decision: Decision): void {
    const error = new EscalatedError(report.child.path, decision.why, report.error);
    this.runtime.failures.failed(parent, error, -1, undefined, { hook: 'supervise', origin: report.origin });
  }

  private restart(
    parent: ActorCell,
    report: FailureReport,
    decision: Decision,
    policy: SupervisionPolicy,
  ): void {
    const cold = report.child.cold as ColdState;
    cold.ownRestarts ??= new RestartWindow();
    cold.ownRestarts.add(report.at);
    const parentCold = parent.ensureCold();
    parentCold.childrenRestarts ??= new RestartWindow();
    parentCold.childrenRestarts.add(report.at);
    const begin = this.restartOf(this.concerned(parent, report.child, policy), report);
    if (decision.delayMs > 0) this.runtime.timers.once(decision.delayMs, begin);
    else begin();
  }

  /** In start order. */
  private concerned(parent: ActorCell, child: ActorCell, policy: SupervisionPolicy): ActorCell[] {
    const strategy = policy.strategy ?? 'one-for-one';
    if (strategy === 'one-for-one') return [child];
    const children = this.runtime.childLists.childrenOf(parent);
    return strategy === 'one-for-all' ? children : children.slice(children.indexOf(child));
  }

  /**
   * From the decision on, no concerned actor handles a message. Returns the function that begins the restart.
   */
  private restartOf(concerned: readonly ActorCell[], report: FailureReport): () => void {
    const [alone] = concerned;
    if (concerned.length === 1 && alone !== undefined) {
      const { ref } = alone;
      return () => ref.cell.putSignal({ kind: 'directive', directive: 'restart', report });
    }
    for (const cell of concerned) cell.markFailed();
    const isReplaced = (cell: ActorCell): boolean =>
      cell === report.child || cell.cold?.restartType !== 'temporary';
    const replaced = concerned.filter(isReplaced);
    const ended = concerned.filter((cell) => !isReplaced(cell)).map((cell) => cell.ref);
    const releaseEnded = (): void => {
      for (const ref of ended) ref.cell.release();
    };
    const underWay = groupsOf(concerned);
    // A group that waits for its back-off goes on waiting.
    const joined = underWay.find((group) => !group.hasBegun) ?? underWay[0];
    if (joined !== undefined) {
      joined.join(
        replaced,
        underWay.filter((group) => group !== joined),
      );
      return releaseEnded;
    }
    const group = new GroupRestart(replaced, report, this.runtime.childLists);
    return () => {
      releaseEnded();
      group.begin();
    };
  }
}

/** Group restarts under way: more than one where siblings were started while others restarted. */
function groupsOf(cells: readonly ActorCell[]): GroupRestart[] {
  const groups = new Set<GroupRestart>();
  for (const { cold } of cells) if (cold?.group instanceof GroupRestart) groups.add(cold.group);
  return [...groups];
}
