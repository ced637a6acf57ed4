import type { StopReason } from '../runtime-event.js';
import type { FailureReport } from '../supervision/failure-report.js';

/** A stop or kill under way. `stage` is the step that has begun last. */
export interface Stop {
  readonly kind: 'stop';
  readonly reason: StopReason;
  stage: 'current-message' | 'stopping-hook' | 'children' | 'stopped-hook';
}

/** A restart under way: the children end, the actor does not. */
export interface Restart {
  readonly kind: 'restart';
  readonly report: FailureReport;
  stage: 'children' | 'restarting-hook';
}

/** The end of an actor, or of its present incarnation. */
export type Ending = Stop | Restart;
