import { describe, rule, text, wholeNumber } from '@troupe/core/option-check';
import { isDefinition, type JobDefinition, type JobInput } from '../../job/definition/define-job.js';
import { validateBySchema } from '../../job/definition/validate-by-schema.js';
import { payloadText } from '../../job/payload/payload.js';
import { JobDefinitionError, RequestRefusedError } from '../../jobs-error.js';
import type { ScheduleOverlap, ScheduleRule } from '../../ledger/schedules/schedule-rule.js';
import { checkOptions } from '../../option-check.js';
import type { ScheduleRequest, ScheduleView } from '../../protocol/client/schedule-messages.js';
import type { AdminCalls } from '../calls/admin-calls.js';
import { WAIT_OPTIONS, type WaitOptions } from '../calls/wait-limit.js';
import { encodeInput } from '../submit/submit-preparer.js';

/** When a schedule runs: `cron` or `everyMs`. */
export interface ScheduleOptions extends WaitOptions {
  /**
   * Minute, hour, day of month, month, day of week; with six fields, seconds come first. Default: none; give
   * this or `everyMs`.
   */
  readonly cron?: string | undefined;
  /** The IANA time zone of `cron`, such as `Europe/Berlin`. Default: UTC. */
  readonly zone?: string | undefined;
  /** A run every so many milliseconds. Default: none; give this or `cron`. */
  readonly everyMs?: number | undefined;
  /** An instant of `everyMs`, in milliseconds since 1970 or as a Date. Default: the year 1970. */
  readonly fromAt?: Date | number | undefined;
  /** Each run begins up to so much later, so that many schedules of one instant are spread. Default 0. */
  readonly jitterMs?: number | undefined;
  /**
   * While the job of an earlier run, also of one by request, is queued or running: the instant is dropped,
   * waits for its end, or cancels it. Default: `skip`.
   */
  readonly overlap?: ScheduleOverlap | undefined;
  /**
   * Instants at which the leader was away: none is run later, the last one is, or so many of the last are.
   * They come at once: with overlap `skip` the first of them drops the others. Default: `last`.
   */
  readonly catchUp?: 'none' | 'last' | number | undefined;
}

export interface ScheduleListOptions extends WaitOptions {
  /** The first one is behind this name. Default: the first of all. */
  readonly after?: string | undefined;
  /** At most so many. Default 100. */
  readonly max?: number | undefined;
}

const CATCH_UP_MAX = 1_000;

const SCHEDULE_OPTIONS = {
  cron: text(256),
  zone: text(64),
  everyMs: wholeNumber(100),
  fromAt: rule('a Date or milliseconds since 1970', (value) => value instanceof Date || isWhole(value)),
  jitterMs: wholeNumber(0),
  overlap: rule("'skip', 'queue' or 'replace'", (value) =>
    ['skip', 'queue', 'replace'].includes(value as string),
  ),
  catchUp: rule(`'none', 'last' or 1 to ${CATCH_UP_MAX}`, isCatchUp),
  ...WAIT_OPTIONS,
};
const LIST_OPTIONS = { ...WAIT_OPTIONS, after: text(128), max: wholeNumber(1, 1_000) };

/** The schedules of a leader, by name. Rejects with RequestRefusedError where the leader refuses. */
export class Schedules {
  private readonly calls: Pick<AdminCalls, 'call'>;

  constructor(calls: Pick<AdminCalls, 'call'>) {
    this.calls = calls;
  }

  /** Adds a schedule, or changes the one of this name. The same again changes nothing. */
  async add<D extends JobDefinition>(
    name: string,
    job: D,
    input: JobInput<D>,
    options: ScheduleOptions,
  ): Promise<ScheduleView> {
    checkOptions('schedules.add', options, SCHEDULE_OPTIONS);
    if (!isDefinition(job))
      throw new JobDefinitionError('schedules.add', `needs a job made by defineJob, got ${describe(job)}`);
    await validateBySchema(job.exec, 'input', job.input, input);
    const payload = payloadText(encodeInput(job, input));
    const rule = ruleOf(options);
    return this.change({ kind: 'schedule-set', name, policy: job.policy, payload, rule }, options);
  }

  /** In the order of their names. */
  async list(options: ScheduleListOptions = {}): Promise<readonly ScheduleView[]> {
    checkOptions('schedules.list', options, LIST_OPTIONS);
    const { after = '', max = 100 } = options;
    const { answer } = await this.calls.call({ kind: 'schedules', after, max }, options);
    return answer.kind === 'schedules' ? answer.views : [];
  }

  /**
   * Runs it once, now, whatever its overlap is and beside the runs that go on. Instants look at it as at any
   * other run.
   */
  run(name: string, options: WaitOptions = {}): Promise<ScheduleView> {
    return this.change({ kind: 'schedule-run', name }, options);
  }

  /** Its instants are not run until it is resumed, nor then. */
  pause(name: string, options: WaitOptions = {}): Promise<ScheduleView> {
    return this.change({ kind: 'schedule-pause', name, paused: true }, options);
  }

  /** Its next instant is the first one from now on. */
  resume(name: string, options: WaitOptions = {}): Promise<ScheduleView> {
    return this.change({ kind: 'schedule-pause', name, paused: false }, options);
  }

  /** Jobs that it has submitted go on. */
  async remove(name: string, options: WaitOptions = {}): Promise<void> {
    checkOptions('schedules', options, WAIT_OPTIONS);
    const { answer, isRepeated } = await this.calls.call({ kind: 'schedule-drop', name }, options);
    // The answer to the first request, which removed it, may be the one that was lost.
    if (isRepeated || answer.kind !== 'count' || answer.count > 0) return;
    throw new RequestRefusedError('schedule-drop', 'ERR_SCHEDULE_UNKNOWN', `there is no schedule '${name}'`);
  }

  private async change(request: ScheduleRequest, options: WaitOptions): Promise<ScheduleView> {
    const { withinMs, signal } = options;
    checkOptions('schedules', { withinMs, signal }, WAIT_OPTIONS);
    const { answer } = await this.calls.call(request, options);
    if (answer.kind === 'schedule') return answer.view;
    throw new JobDefinitionError(request.kind, 'the leader gave another answer');
  }
}

function ruleOf(options: ScheduleOptions): ScheduleRule {
  const { cron, zone, everyMs, fromAt, jitterMs, overlap = 'skip', catchUp = 'last' } = options;
  const catchUpMax = typeof catchUp === 'number' ? catchUp : catchUp === 'last' ? 1 : 0;
  return {
    cron,
    zone,
    everyMs,
    fromAt: fromAt === undefined ? undefined : Number(fromAt),
    jitterMs,
    overlap,
    catchUpMax,
  };
}

function isCatchUp(value: unknown): boolean {
  if (value === 'none' || value === 'last') return true;
  return isWhole(value) && (value as number) >= 1 && (value as number) <= CATCH_UP_MAX;
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
