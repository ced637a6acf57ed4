import { Cron } from 'croner';
import type { ScheduleRule } from '../../ledger/schedules/schedule-rule.js';

/** Behind every instant: the last one that a `Date` has. */
export const NEVER = 8.64e15;

/** The instants of a rule on the wall clock, in milliseconds since 1970. Pure: no clock is read. */
export interface Recurrence {
  /** The first instant behind this one, or NEVER. */
  nextAfter(at: number): number;
  /** The latest instants up to this one, at most so many, earliest first. */
  latest(upTo: number, max: number): number[];
}

/** Throws for a rule that `ruleProblem` refuses. */
export function recurrenceOf({ cron, zone, everyMs, fromAt }: ScheduleRule): Recurrence {
  if (cron !== undefined) return new CronRecurrence(cron, zone ?? 'UTC');
  return new PeriodicRecurrence(everyMs ?? NEVER, fromAt ?? 0);
}

const SECOND_MS = 1_000;

/** Zones and daylight saving are croner's (ADR 0428). */
class CronRecurrence implements Recurrence {
  private readonly cron: Cron;
  /** Many schedules have one rule, and come to the same instant. */
  private lastAfter = Number.NaN;
  private lastNext = 0;

  constructor(pattern: string, timezone: string) {
    this.cron = new Cron(pattern, { timezone, mode: '5-or-6-parts' });
  }

  nextAfter(at: number): number {
    if (at !== this.lastAfter) {
      this.lastNext = this.cron.nextRun(new Date(at))?.getTime() ?? NEVER;
      this.lastAfter = at;
    }
    return this.lastNext;
  }

  latest(upTo: number, max: number): number[] {
    // Runs before the second that follows: an instant is a whole second.
    const end = new Date((Math.floor(upTo / SECOND_MS) + 1) * SECOND_MS);
    return this.cron
      .previousRuns(max, end)
      .map((date) => date.getTime())
      .reverse();
  }
}

class PeriodicRecurrence implements Recurrence {
  private readonly everyMs: number;
  private readonly fromAt: number;

  constructor(everyMs: number, fromAt: number) {
    this.everyMs = everyMs;
    this.fromAt = fromAt;
  }

  nextAfter(at: number): number {
    return Math.min(NEVER, this.instant(Math.max(0, Math.floor((at - this.fromAt) / this.everyMs) + 1)));
  }

  latest(upTo: number, max: number): number[] {
    const last = Math.floor((upTo - this.fromAt) / this.everyMs);
    const instants: number[] = [];
    for (let period = Math.max(0, last - max + 1); period <= last; period += 1)
      instants.push(this.instant(period));
    return instants;
  }

  private instant(period: number): number {
    return this.fromAt + period * this.everyMs;
  }
}

/** With more rules than this, those that were not used for the longest time are made again. */
const RULES_MAX = 1_024;

/** Recurrences by rule: a parsed one costs more than a schedule. */
export class Recurrences {
  private readonly byRule = new Map<string, Recurrence>();

  of(rule: ScheduleRule): Recurrence {
    const { cron, zone, everyMs, fromAt } = rule;
    const name = cron === undefined ? `${everyMs} ${fromAt}` : `${zone} ${cron}`;
    const known = this.byRule.get(name);
    if (known !== undefined) return known;
    if (this.byRule.size >= RULES_MAX) this.byRule.clear();
    const recurrence = recurrenceOf(rule);
    this.byRule.set(name, recurrence);
    return recurrence;
  }
}
