import type { ScheduleRule } from '../../ledger/schedules/schedule-rule.js';
import { NEVER, recurrenceOf } from './recurrence.js';

/** The next instants of a schedule behind one, without jitter, in milliseconds since 1970. */
export function scheduleTimes(rule: ScheduleRule, after: number, max: number): readonly number[] {
  const recurrence = recurrenceOf(rule);
  const times: number[] = [];
  for (let at = after; times.length < max; ) {
    at = recurrence.nextAfter(at);
    if (at >= NEVER) break;
    times.push(at);
  }
  return times;
}
