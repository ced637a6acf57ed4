import { jobId, type ScheduleView, scheduleTimes } from '@troupe/jobs';
import { durationText } from '../../input/option-parsers.js';
import { textTable } from './text-table.js';

/** A schedule as the command prints it with --json: times as text. */
export interface ShownSchedule extends Omit<ScheduleView, 'nextAt' | 'lastAt' | 'lastWallAt' | 'lastJob'> {
  /** Empty while it is paused. */
  readonly next: readonly string[];
  readonly lastAt: string | null;
  readonly lastJob: string | null;
}

/** `count` next instants. */
export function shownSchedule(tag: string, view: ScheduleView, count: number): ShownSchedule {
  const { nextAt, lastAt, lastWallAt: _wall, lastJob, ...rest } = view;
  const times = view.paused ? [] : [nextAt, ...scheduleTimes(view.rule, nextAt, count - 1)];
  return {
    ...rest,
    next: times.map((at) => new Date(at).toISOString()),
    lastAt: lastAt === 0 ? null : new Date(lastAt).toISOString(),
    lastJob: lastJob === 0 ? null : jobId(tag, lastJob),
  };
}

/** A line for each schedule, and one for each further time of it. */
export function scheduleTable(schedules: readonly ShownSchedule[]): string[] {
  const rows = schedules.flatMap((one) => [
    [
      one.name,
      one.exec,
      ruleText(one),
      one.paused ? 'paused' : (one.next[0] ?? 'never'),
      one.lastAt ?? '',
      one.lastJob ?? '',
      String(one.runs),
      String(one.skipped),
    ],
    ...one.next.slice(1).map((at) => ['', '', '', at]),
  ]);
  return textTable(['NAME', 'EXEC', 'WHEN', 'NEXT', 'LAST', 'JOB', 'RUNS', 'SKIPPED'], rows);
}

/** `0 9 * * 1-5 Europe/Berlin`, `every 5m, jitter 10s, overlap queue` */
function ruleText({ rule }: ShownSchedule): string {
  const { cron, zone = 'UTC', everyMs = 0, jitterMs = 0, overlap, catchUpMax } = rule;
  return [
    cron === undefined ? `every ${durationText(everyMs)}` : `${cron} ${zone}`,
    jitterMs === 0 ? '' : `jitter ${durationText(jitterMs)}`,
    overlap === 'skip' ? '' : `overlap ${overlap}`,
    catchUpMax === 1 ? '' : `catch-up ${catchUpMax === 0 ? 'none' : catchUpMax}`,
  ]
    .filter((text) => text !== '')
    .join(', ');
}
