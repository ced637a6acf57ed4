import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import type { Runtime } from '../actor/runtime.js';
import { EscalatedError } from '../errors.js';
import type { FailureReport } from '../lifecycle/runtime-signal.js';
import type { RefBase } from '../ref/ref-class.js';
import { type Decision, decide } from './decide-directive.js';
import { GroupRestart } from './group-restart.js';
import { RestartWindow } from './restart-window.js';
import type { SupervisionPolicy } from './supervision-policy.js';
import { WITHIN_MS_DEFAULT } from './supervision-policy.js';

/** Carries out what `decide` decided, in the parent's turn. */
export class Supervisor {
  private readonly runtime: Runtime;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /** A failure becomes a signal of the parent; that of the guardian ends the system. */
  report(cell: ActorCell, report: FailureReport): void {
    const parent = this.runtime.childLists.parentOf(cell.slot);
    if (parent === undefined) this.runtime.guardianFailed(report);
    else parent.signal({ kind: 'child-failed', report });
  }

  childFailed(parent: ActorCell, report: FailureReport): void {
    const { child } = report;
    if (!child.isCurrent || child.cold?.failure !== report) return;
    // A sibling's failure restarts this one already: one decision is enough.
    if (child.cold.group !== undefined)
      return this.runtime.logFailure(child, report.message, report.error, 'restart with its siblings', 0, 0);
    const policy = this.policyOf(parent);
    const decision = this.decide(parent, child.cold, report, policy);
    const directive = decision.directive === 'escalate' ? `escalate (${decision.why})` : decision.directive;
    this.runtime.logFailure(
      child,
      report.message,
      report.error,
      directive,
      decision.attempt,
      decision.attemptsMax,
    );
    this.apply(parent, report, decision, policy);
  }

  /** A significant child takes its parent along. */
  childEnded(parent: ActorCell, child: RefBase): void {
    if (child.cell.cold?.significant === true) parent.requestStop();
  }

  private policyOf(parent: ActorCell): SupervisionPolicy {
    if (parent === this.runtime.guardian) return this.runtime.options.supervise;
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
    const quiet = report.at - cold.lastFailureAt > resetAfterMs;
    cold.consecutiveFailures = quiet ? 1 : cold.consecutiveFailures + 1;
    cold.lastFailureAt = report.at;
    return decide({
      error: report.error,
      policy,
      restartType: cold.restartType,
      childRestarts: cold.ownRestarts?.count(report.at, withinMs) ?? 0,
      allRestarts: parent.cold?.childrenRestarts?.count(report.at, withinMs) ?? 0,
      consecutive: cold.consecutiveFailures,
      random: this.runtime.host.random(),
      ended: report.ended !== undefined,
      unresumable: report.unresumable,
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
        return child.signal({ kind: 'directive', directive: 'resume', report });
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
    const go = this.restartOf(this.concerned(parent, report.child, policy), report);
    if (decision.delayMs > 0) this.runtime.timers.once(decision.delayMs, go);
    else go();
  }

  /** From the decision on, nobody concerned handles a message; temporary siblings end with the others and stay ended. */
  private restartOf(concerned: readonly ActorCell[], report: FailureReport): () => void {
    const [alone] = concerned;
    if (concerned.length === 1 && alone !== undefined) {
      const { ref } = alone;
      return () => ref.cell.signal({ kind: 'directive', directive: 'restart', report });
    }
    for (const cell of concerned) cell.markFailed();
    const returns = (cell: ActorCell): boolean =>
      cell === report.child || cell.cold?.restartType !== 'temporary';
    const returning = concerned.filter(returns);
    const leaving = concerned.filter((cell) => !returns(cell)).map((cell) => cell.ref);
    const release = (): void => {
      for (const ref of leaving) ref.cell.release();
    };
    const pending = groupsOf(concerned);
    // One that waits for its back-off still does.
    const first = pending.find((group) => !group.hasBegun) ?? pending[0];
    if (first !== undefined) {
      first.join(
        returning,
        pending.filter((group) => group !== first),
      );
      return release;
    }
    const group = new GroupRestart(returning, report);
    return () => {
      release();
      group.begin();
    };
  }

  private escalate(parent: ActorCell, report: FailureReport, decision: Decision): void {
    const error = new EscalatedError(report.child.path, decision.why, report.error);
    this.runtime.lifecycle.failed(parent, error, -1, undefined, {
      hook: 'supervise',
      origin: report.origin,
    });
  }

  /** In order of birth. */
  private concerned(parent: ActorCell, child: ActorCell, policy: SupervisionPolicy): ActorCell[] {
    const strategy = policy.strategy ?? 'one-for-one';
    if (strategy === 'one-for-one') return [child];
    const children = this.runtime.childLists.childrenOf(parent);
    return strategy === 'one-for-all' ? children : children.slice(children.indexOf(child));
  }
}

/** RestartSequence that are under way among them: more than one where siblings were born while others restarted. */
function groupsOf(cells: readonly ActorCell[]): GroupRestart[] {
  const groups = new Set<GroupRestart>();
  for (const { cold } of cells) if (cold?.group !== undefined) groups.add(cold.group);
  return [...groups];
}
