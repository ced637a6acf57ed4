import type { ScheduleRule } from '../../ledger/schedules/schedule-rule.js';
import { YEAR_MS } from '../../option-check.js';
import { NEVER, recurrenceOf } from './recurrence.js';

const DAY_MS = 24 * 3_600_000;
const EVERY_MS_MIN = 100;
const CATCH_UP_MAX = 1_000;
const CRON_CHARS_MAX = 256;

/** Why a rule cannot be used; undefined: it can. `wallAt`: the wall clock of the leader. */
export function ruleProblem(rule: ScheduleRule, wallAt: number): string | undefined {
  const { cron, everyMs, zone, fromAt, jitterMs = 0, overlap, catchUpMax } = rule;
  if ((cron === undefined) === (everyMs === undefined)) return 'a schedule has either cron or everyMs';
  if (everyMs !== undefined && !isWhole(everyMs, EVERY_MS_MIN, YEAR_MS))
    return `everyMs is ${everyMs}, ${EVERY_MS_MIN} to ${YEAR_MS} are allowed`;
  if (zone !== undefined && cron === undefined) return 'zone is given without cron';
  if (fromAt !== undefined && (everyMs === undefined || !isWhole(fromAt, 0, Number.MAX_SAFE_INTEGER)))
    return 'fromAt is an instant of everyMs, in milliseconds since 1970';
  if (!isWhole(jitterMs, 0, DAY_MS)) return `jitterMs is ${jitterMs}, 0 to ${DAY_MS} are allowed`;
  if (!['skip', 'queue', 'replace'].includes(overlap)) return `overlap '${overlap}' is unknown`;
  if (!isWhole(catchUpMax, 0, CATCH_UP_MAX))
    return `catchUp is ${catchUpMax}, 0 to ${CATCH_UP_MAX} are allowed`;
  return cron === undefined ? undefined : cronProblem(rule, cron, wallAt);
}

function cronProblem(rule: ScheduleRule, cron: string, wallAt: number): string | undefined {
  // An instant in place of a pattern would run once, and a schedule recurs.
  if (cron.length > CRON_CHARS_MAX || !/^(@\w+|\S+(\s+\S+){4,5})$/.test(cron.trim()))
    return `cron '${cron.slice(0, CRON_CHARS_MAX)}' has not five or six fields`;
  const { zone = 'UTC' } = rule;
  if (!isZone(zone)) return `zone '${zone}' is unknown; name one such as Europe/Berlin`;
  try {
    if (recurrenceOf(rule).nextAfter(wallAt) === NEVER) return `cron '${cron}' never comes`;
    return undefined;
  } catch (error) {
    return `cron '${cron}': ${(error as Error).message.replace(/^Cron\w*: /, '')}`;
  }
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}
