import { jobId, type ScheduleView, scheduleTimes } from '@troupe/jobs';
import { durationText } from '../../input/option-parsers.js';
import { textTable } from './text-table.js';

/** A schedule as the command prints it with --json: times as text. */
export interface ShownSchedule extends Omit<ScheduleView, 'nextAt' | 'lastAt' | 'lastWallAt' | 'lastJob'> {
  /** Empty while it is paused. */
  readonly next: readonly string[];
  readonly lastAt: string | null;
  readonly lastJob: string | null;
  /** The queue that an operator drains: it submits nothing before that one is resumed. */
  readonly drainedQueue: string | null;
}

/** `count` next instants. `drained`: names of queues. */
export function shownSchedule(
  tag: string,
  view: ScheduleView,
  drained: ReadonlySet<string>,
  count: number,
): ShownSchedule {
  const { nextAt, lastAt, lastWallAt: _wall, lastJob, ...rest } = view;
  const times = view.paused ? [] : [nextAt, ...scheduleTimes(view.rule, nextAt, count - 1)];
  return {
    ...rest,
    next: times.map((at) => new Date(at).toISOString()),
    lastAt: lastAt === 0 ? null : new Date(lastAt).toISOString(),
    lastJob: lastJob === 0 ? null : jobId(tag, lastJob),
    drainedQueue: ['*', `${view.group}/${view.exec}`].find((queue) => drained.has(queue)) ?? null,
  };
}

/** A line for each schedule, and one for each further time of it. */
export function scheduleTable(schedules: readonly ShownSchedule[]): string[] {
  const rows = schedules.flatMap((one) => [
    [
      one.name,
      one.exec,
      ruleText(one),
      nextText(one),
      one.lastAt ?? '',
      one.lastJob ?? '',
      String(one.runs),
      String(one.skipped),
    ],
    ...one.next.slice(1).map((at) => ['', '', '', at]),
  ]);
  return textTable(['NAME', 'EXEC', 'WHEN', 'NEXT', 'LAST', 'JOB', 'RUNS', 'SKIPPED'], rows);
}

function nextText({ paused, next, drainedQueue }: ShownSchedule): string {
  if (paused) return 'paused';
  const [first = 'never'] = next;
  return drainedQueue === null ? first : `${first}, waits: queue ${drainedQueue} is drained`;
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
