import type { StoredSchedule } from '../../ledger/schedules/schedule-table.js';
import type { Recurrence } from './recurrence.js';

/** A run that begins within this time is no missed one: a busy leader is not an absent one. */
const ON_TIME_MS = 10_000;

/** The instants of a schedule that are to be run now, and the one behind them. */
export interface DueSlots {
  /** Earliest first. Empty: all of them were missed, and none is run later. */
  readonly slots: readonly number[];
  readonly nextAt: number;
}

/**
 * The instants that have come since the last look. More than one, or a late one: the leader was away, or its
 * wall clock was set forward.
 */
export function dueSlots(
  recurrence: Recurrence,
  { nextAt, name, template }: Pick<StoredSchedule, 'nextAt' | 'name' | 'template'>,
  wallAt: number,
): DueSlots {
  const { catchUpMax, jitterMs = 0 } = template.rule;
  const upTo = Math.max(nextAt, wallAt - jitterMs);
  const come = recurrence.latest(upTo, Math.max(1, catchUpMax)).filter((slot) => slot >= nextAt);
  // Another edition of the time zones may not have the instant that an earlier one has chosen.
  const slots = come.length === 0 ? [nextAt] : come;
  const last = slots.at(-1) as number;
  const isOnTime = wallAt - last - jitterOf(name, last, jitterMs) <= ON_TIME_MS;
  const runs = Math.max(catchUpMax, isOnTime ? 1 : 0);
  return { slots: runs === 0 ? [] : slots.slice(-runs), nextAt: recurrence.nextAfter(upTo) };
}

/** When the next instant is run, by the wall clock. */
export function fireTime({ name, nextAt, template }: StoredSchedule): number {
  return nextAt + jitterOf(name, nextAt, template.rule.jitterMs ?? 0);
}

/** Chosen by name and instant: the same after a restart, and spread over the schedules of one instant. */
function jitterOf(name: string, slot: number, jitterMs: number): number {
  if (jitterMs === 0) return 0;
  let hash = 0x811c9dc5;
  for (const char of `${name} ${slot}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % jitterMs;
}
