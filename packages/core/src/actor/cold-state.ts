import type { RestartType, SupervisionPolicy } from '../define/supervision-policy.js';
import type { UnsettledHandler } from '../invoker/unsettled-handler.js';
import type { DeferredSignals } from '../lifecycle/deferred-signals.js';
import type { Ending } from '../lifecycle/ending-stage.js';
import type { EnteredPhase } from '../lifecycle/phase-transitions.js';
import type { Signal } from '../lifecycle/runtime-signal.js';
import type { Suspension } from '../lifecycle/suspensions.js';
import { NO_SLOT } from '../mailbox/mailbox.js';
import type { Stash } from '../mailbox/stashes.js';
import type { HandlerSignals } from '../message/handler-signals.js';
import type { Middleware } from '../middleware/middleware.js';
import type { WorkQueue } from '../routing/work-queue.js';
import type { StopReason } from '../runtime-event.js';
import type { FailureReport } from '../supervision/failure-report.js';
import type { RestartGroup } from '../supervision/group-restart.js';
import type { RestartWindow } from '../supervision/restart-window.js';
import type { OpenWaits } from '../waits/open-waits.js';
import type { ActorCell } from './actor-cell.js';
import type { ActorHome, ProxyRoute } from './actor-home.js';
import type { CellTimers } from './actor-timers.js';

/**
 * State that most actors never need, kept out of the cell so that an idle actor stays small. A restart hands
 * it to the next incarnation; `endIncarnation` resets the fields that belong to one incarnation.
 */
export class ColdState {
  name: string | undefined = undefined;
  signals: Signal[] = [];
  /** Signals that run user code and so wait for an asynchronous handler to settle. */
  deferredSignals: DeferredSignals | undefined = undefined;
  firstChild = NO_SLOT;
  lastChild = NO_SLOT;
  /** Watcher → the ref by which it watches. */
  watchers: Map<ActorCell['ref'], ActorCell['ref']> | undefined = undefined;
  watching: Set<ActorCell['ref']> | undefined = undefined;
  /** Each function ends one watch of a name. */
  nameWatches: Set<() => void> | undefined = undefined;
  suspensions: Suspension[] = [];
  awaiting: UnsettledHandler | undefined = undefined;
  /** A settled call, reused by the next handler that awaits. */
  spareUnsettledHandler: UnsettledHandler | undefined = undefined;
  /** Its asks and sends that have not ended. */
  waits: OpenWaits | undefined = undefined;
  /** Of a pull pool. */
  workQueue: WorkQueue | undefined = undefined;
  timers: CellTimers | undefined = undefined;
  stash: Stash | undefined = undefined;
  /** Only of actors whose phases have hooks. */
  phase: EnteredPhase | undefined = undefined;
  handlerSignals: HandlerSignals | undefined = undefined;
  isHardLimitReported = false;
  ending: Ending | undefined = undefined;
  /** The failure that its parent has not decided about yet. */
  failure: FailureReport | undefined = undefined;
  onStopped: ((reason: StopReason) => void)[] = [];
  middleware: readonly Middleware[] | undefined = undefined;
  restartType: RestartType = 'transient';
  significant = false;
  /** Its policy for its own children, where that is not the definition's. */
  policy: SupervisionPolicy | undefined = undefined;
  /** The parent has ended it: even a permanent child is not started again. */
  released = false;
  /** The restart of several siblings that it is part of, from the decision until its next incarnation. */
  group: RestartGroup | undefined = undefined;
  restarts = 0;
  /** Set for an actor whose supervisor is on another thread. */
  home: ActorHome | undefined = undefined;
  /** Set for a proxy of an actor on another thread. */
  route: ProxyRoute | undefined = undefined;
  links: Set<ActorCell['ref']> | undefined = undefined;
  slowest: { readonly message: string; readonly ms: number } | undefined = undefined;
  /** Made at the first restart: of itself, and of its children. */
  ownRestarts: RestartWindow | undefined = undefined;
  childrenRestarts: RestartWindow | undefined = undefined;
  consecutiveFailures = 0;
  lastFailureAt = 0;

  /** Name, watchers and restart limits stay. */
  endIncarnation(): void {
    this.deferredSignals = undefined;
    this.awaiting = undefined;
    this.spareUnsettledHandler = undefined;
    this.handlerSignals = undefined;
    this.waits = undefined;
    this.ending = undefined;
    this.failure = undefined;
    this.watching = undefined;
    this.stash = undefined;
    this.phase = undefined;
  }
}
