import { Scheduler } from '#src/leader/schedules/scheduler.js';
import { Ledger } from '#src/ledger/ledger.js';
import type { ScheduleFireRecord } from '#src/ledger/ledger-record.js';
import { EarlierRuns } from '#src/ledger/schedules/earlier-runs.js';
import { type SchedulePlan, ScheduleTable } from '#src/ledger/schedules/schedule-table.js';
import { type PlantedBug, swap } from './planted-bugs.js';

/** Private parts of a scheduler. */
interface SchedulerInside {
  pending: Set<string>;
}

export const plantedScheduleBugs: readonly PlantedBug[] = [
  {
    name: 'a schedule forgets that its instant was run',
    plant: () =>
      swap(
        ScheduleTable,
        'change',
        (original) =>
          function change(this: ScheduleTable, slot: unknown, plan: unknown) {
            const { nextAt, ...rest } = plan as Partial<SchedulePlan>;
            // Only a run changes the count of skipped instants.
            original.call(this, slot, rest.skipped === undefined ? { ...rest, ...nextOf(nextAt) } : rest);
          },
      ),
  },
  {
    name: 'a schedule is looked at while its record is on its way',
    plant: () =>
      swap(
        Scheduler,
        'stage',
        (original) =>
          function stage(this: SchedulerInside, schedule: unknown, ...rest: unknown[]) {
            original.call(this, schedule, ...rest);
            this.pending.clear();
          },
      ),
  },
  {
    name: 'a schedule runs beside its run before',
    plant: () => swap(Scheduler, 'decide', () => () => 'run'),
  },
  {
    name: 'a schedule looks at its latest run alone',
    plant: () => swap(EarlierRuns, 'of', () => () => []),
  },
  {
    name: 'earlier runs of a schedule are forgotten by a restart from a snapshot',
    plant: () => swap(EarlierRuns, 'restore', () => () => undefined),
  },
  {
    name: 'a run that replaces another does not cancel it',
    plant: () =>
      swap(
        Scheduler,
        'stageFire',
        (original) =>
          function stageFire(this: Scheduler, schedule: unknown, plan: unknown, ...rest: unknown[]) {
            original.call(this, schedule, { ...(plan as ScheduleFireRecord), replaced: 0 }, ...rest);
          },
      ),
  },
  {
    name: 'a pause of a schedule is forgotten',
    plant: () => swap(Ledger, 'pauseSchedule', () => () => undefined),
  },
  {
    name: 'schedules are left out of snapshots and forgotten by a restart',
    plant: () => swap(ScheduleTable, 'values', () => () => []),
  },
  {
    name: 'a held instant is never run',
    plant: () => swap(Scheduler, 'release', () => () => undefined),
  },
  {
    name: 'a request to run a schedule that is repeated runs it again',
    plant: () =>
      swap(
        Scheduler,
        'runNow',
        (original) =>
          function runNow(this: Scheduler, schedule: unknown, _key: unknown, ...rest: unknown[]) {
            original.call(this, schedule, '', ...rest);
          },
      ),
  },
];

function nextOf(nextAt: number | undefined): Partial<SchedulePlan> {
  return nextAt === undefined ? {} : { nextAt };
}
