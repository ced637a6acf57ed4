import {
  DIRECTIVES,
  type Directive,
  RESTARTS_DEFAULT,
  type RestartType,
  type SupervisionPolicy,
  WITHIN_MS_DEFAULT,
} from '../define/supervision-policy.js';
import { messageOf } from '../errors/bounded-error.js';
import { describe } from '../errors/describe-value.js';
import { toError } from '../errors/thrown-value.js';
import type { AnyRef } from '../ref/actor-ref.js';
import { backoffMs } from './backoff-delay.js';

/** The input of a decision. Time and chance are values, so the same facts always give the same decision. */
export interface FailureFacts {
  readonly error: Error;
  readonly child: AnyRef;
  readonly message: string;
  readonly policy: SupervisionPolicy;
  readonly restartType: RestartType;
  /** Restarts of this child, and of all children together, within the window. */
  readonly childRestarts: number;
  readonly allRestarts: number;
  /** Consecutive failures, this one included; `resetAfterMs` without a failure starts again at 1. */
  readonly consecutive: number;
  readonly random: number;
  /** A permanent child that has ended without a failure. */
  readonly ended: boolean;
  /** Resuming would meet the same failure at once, so it is restarted instead, within the limits. */
  readonly unresumable: boolean;
  /** It cannot be started: a restart would fail in the same way. */
  readonly isFinal: boolean;
}

export interface Decision {
  readonly directive: Directive;
  readonly delayMs: number;
  /** Restarts within the window, a restart by this decision included, and how many there may be. */
  readonly attempt: number;
  readonly attemptsMax: number;
  readonly why: string;
}

/** Pure: the directive for a failed child. */
export function decideDirective(facts: FailureFacts): Decision {
  const { policy } = facts;
  const attemptsMax = policy.restarts ?? RESTARTS_DEFAULT;
  const withinMs = policy.withinMs ?? WITHIN_MS_DEFAULT;
  const next = facts.childRestarts + 1;
  const made = (directive: Directive, why: string, delayMs = 0): Decision => {
    const attempt = directive === 'restart' ? next : facts.childRestarts;
    return { directive, delayMs, attempt, attemptsMax, why };
  };
  let wanted: Directive;
  try {
    const { error, child, message, ended } = facts;
    wanted = (ended ? undefined : policy.decide?.({ error, child, message, attempt: next })) ?? 'restart';
  } catch (error) {
    return made('escalate', `supervise.decide threw: ${messageOf(toError(error))}`);
  }
  if (wanted === 'resume' && facts.unresumable) wanted = 'restart';
  if (!DIRECTIVES.includes(wanted)) {
    return made('escalate', `supervise.decide returned ${describe(wanted)}, which is no directive`);
  }
  if (wanted !== 'restart') return made(wanted, 'chosen by supervise.decide');
  if (facts.isFinal) return made('stop', 'it cannot be started');
  if (facts.restartType === 'temporary') return made('stop', 'temporary children are not restarted');
  if (next > attemptsMax) return made('escalate', `more than ${attemptsMax} restarts within ${withinMs} ms`);
  if (policy.restartsTotal !== undefined && facts.allRestarts >= policy.restartsTotal) {
    return made(
      'escalate',
      `more than ${policy.restartsTotal} restarts of all children within ${withinMs} ms`,
    );
  }
  const delayMs =
    policy.backoff === undefined ? 0 : backoffMs(policy.backoff, facts.consecutive, facts.random);
  return made('restart', 'within its limits', delayMs);
}
