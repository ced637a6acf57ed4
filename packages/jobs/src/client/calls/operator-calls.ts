import { number, rule, text, wholeNumber } from '@troupe/core/option-check';
import type { JobDefinition, JobInput } from '../../job/definition/define-job.js';
import { validateBySchema } from '../../job/definition/validate-by-schema.js';
import { payloadText } from '../../job/payload/payload.js';
import { JobDefinitionError, RequestRefusedError } from '../../jobs-error.js';
import type { JobsTimers } from '../../jobs-host.js';
import { checkOptions } from '../../option-check.js';
import type { AdminAnswer, AdminRequest } from '../../protocol/client/admin-messages.js';
import type { DeadLetterGroup } from '../../protocol/client/dead-letter-messages.js';
import type {
  AuditView,
  ClientView,
  FoundJobs,
  LeaderStatsView,
} from '../../protocol/client/operator-messages.js';
import type { JobFilter } from '../../protocol/client/search-messages.js';
import { encodeInput } from '../submit/submit-preparer.js';
import type { AdminCalls } from './admin-calls.js';
import { WAIT_OPTIONS, type WaitOptions } from './wait-limit.js';

export interface SearchOptions extends WaitOptions {
  /** Jobs behind this number; the `next` of the page before. Default 0. */
  readonly after?: number | undefined;
  /** At most so many jobs. Default 100. */
  readonly max?: number | undefined;
}

export interface GroupOptions extends WaitOptions {
  /** Dead letters of this definition alone. Default: of all. */
  readonly exec?: string | undefined;
  /** At most so many groups. Default 100. */
  readonly max?: number | undefined;
}

export interface AuditOptions extends WaitOptions {
  /** Acts behind this number. Default: the latest ones. */
  readonly after?: number | undefined;
  /** At most so many acts. Default 100. */
  readonly max?: number | undefined;
}

export interface RedriveOptions extends WaitOptions {
  /** The most jobs a second. Default: as fast as the leader takes them. */
  readonly perSecond?: number | undefined;
  /** Counts the dead letters that fit, and changes nothing. Default false. */
  readonly dryRun?: boolean | undefined;
  /** At most so many jobs. Default: all. */
  readonly max?: number | undefined;
}

export interface CancelWhereOptions extends WaitOptions {
  /** Kept with each job. Default empty. */
  readonly reason?: string | undefined;
  /** Counts the jobs that fit, and changes nothing. Default false. */
  readonly dryRun?: boolean | undefined;
  /** At most so many jobs, in the order of their numbers: those of a dry run. Default: all. */
  readonly max?: number | undefined;
}

/** The end of a cancel by filter. */
export interface CancelReport {
  /** Queued and running jobs that fitted. */
  readonly matched: number;
  /** Jobs that were cancelled: others had ended meanwhile, or an answer was lost with its connection. */
  readonly cancelled: number;
}

/** The end of a redrive by filter. */
export interface RedriveReport {
  /** Dead letters that fitted. */
  readonly matched: number;
  /** Dead letters that were put back into their queue. */
  readonly redriven: number;
}

const BATCH_JOBS = 100;
const BATCHES_PER_SECOND = 10;
const PAGE_MAX = 1_000;
const CANCEL_BATCH_JOBS = 250;

const FILTER = {
  state: rule('a state of a job', (value) =>
    ['queued', 'running', 'done', 'dead', 'cancelled'].includes(value as string),
  ),
  exec: text(256),
  group: text(256),
  tenant: rule('a text', (value) => typeof value === 'string'),
  client: text(256),
  key: text(512),
  orderKey: text(512),
  tag: text(64),
  since: wholeNumber(0),
  until: wholeNumber(0),
  error: text(1_000),
  fingerprint: text(64),
};
const PAGE = { ...WAIT_OPTIONS, after: wholeNumber(0), max: wholeNumber(1, PAGE_MAX) };
const REDRIVE = {
  ...WAIT_OPTIONS,
  perSecond: number(0.001),
  dryRun: rule('true or false', (value) => typeof value === 'boolean'),
  max: wholeNumber(1),
};

const LIVE = rule('queued or running', (value) => value === 'queued' || value === 'running');
const CANCEL = {
  ...WAIT_OPTIONS,
  reason: rule('a text', (value) => typeof value === 'string'),
  dryRun: REDRIVE.dryRun,
  max: REDRIVE.max,
};

/** Requests of operators, and the meaning of their answers. */
export class OperatorCalls {
  private readonly timers: JobsTimers;
  private readonly calls: AdminCalls;

  constructor(timers: JobsTimers, calls: AdminCalls) {
    this.timers = timers;
    this.calls = calls;
  }

  async search(filter: JobFilter, options: SearchOptions): Promise<FoundJobs> {
    checkOptions('search', filter, FILTER);
    checkOptions('search', options, PAGE);
    const { after = 0, max = 100 } = options;
    return (await this.call('found', { kind: 'search', filter, after, max }, options)).found;
  }

  async deadLetterGroups(options: GroupOptions): Promise<readonly DeadLetterGroup[]> {
    checkOptions('deadLetterGroups', options, { ...WAIT_OPTIONS, exec: FILTER.exec, max: PAGE.max });
    const { exec, max = 100 } = options;
    return (await this.call('dead-groups', { kind: 'dead-groups', exec, max }, options)).groups;
  }

  async audit(options: AuditOptions): Promise<readonly AuditView[]> {
    checkOptions('audit', options, PAGE);
    const { after, max = 100 } = options;
    return (await this.call('audit', { kind: 'audit', after, max }, options)).entries;
  }

  async clients(options: WaitOptions): Promise<readonly ClientView[]> {
    checkOptions('clients', options, WAIT_OPTIONS);
    return (await this.call('clients', { kind: 'clients' }, options)).clients;
  }

  async stats(options: WaitOptions): Promise<LeaderStatsView> {
    checkOptions('stats', options, WAIT_OPTIONS);
    return (await this.call('stats', { kind: 'stats' }, options)).stats;
  }

  /**
   * Page by page, in the order of their numbers: a job that dies again meanwhile is not driven a second
   * time.
   */
  async redriveWhere(filter: JobFilter, options: RedriveOptions): Promise<RedriveReport> {
    checkOptions('redriveWhere', options, REDRIVE);
    const { perSecond, dryRun = false, max = Number.MAX_SAFE_INTEGER, withinMs, signal } = options;
    const rate = perSecond === undefined ? BATCH_JOBS : Math.ceil(perSecond / BATCHES_PER_SECOND);
    const wait = { withinMs, signal };
    let [matched, redriven, after] = [0, 0, 0];
    do {
      const pageMax = Math.min(rate, BATCH_JOBS, max - matched);
      const page = await this.search({ ...filter, state: 'dead' }, { after, max: pageMax, ...wait });
      const numbers = page.jobs.map(({ job }) => job);
      matched += numbers.length;
      after = page.next;
      if (dryRun || numbers.length === 0) continue;
      redriven += await this.calls.redriveOrPurge('redrive', numbers, wait);
      if (perSecond !== undefined && after !== 0)
        await this.pause((numbers.length / perSecond) * 1_000, signal);
    } while (after !== 0 && matched < max);
    return { matched, redriven };
  }

  /** Batch by batch, in the order of their numbers. */
  async cancelWhere(filter: JobFilter, options: CancelWhereOptions): Promise<CancelReport> {
    checkOptions('cancelWhere', filter, { ...FILTER, state: LIVE });
    checkOptions('cancelWhere', options, CANCEL);
    const { reason = '', dryRun = false, max = Number.MAX_SAFE_INTEGER, withinMs, signal } = options;
    let [matched, cancelled, after] = [0, 0, 0];
    do {
      const batch = { after, max: Math.min(CANCEL_BATCH_JOBS, max - matched), dryRun };
      const request = { kind: 'cancel-where', filter, reason, ...batch } as const;
      const report = await this.call('cancel-report', request, { withinMs, signal });
      matched += report.matched;
      cancelled += report.cancelled;
      after = report.next;
    } while (after !== 0 && matched < max);
    return { matched, cancelled };
  }

  async redriveEdited<D extends JobDefinition>(
    no: number,
    job: D,
    input: JobInput<D>,
    options: WaitOptions,
  ): Promise<void> {
    checkOptions('redriveEdited', options, WAIT_OPTIONS);
    await validateBySchema(job.exec, 'input', job.input, input);
    const payload = payloadText(encodeInput(job, input));
    const [dead] = await this.calls.deadAttempts([no], options);
    if (dead === undefined)
      throw new RequestRefusedError('redrive-edited', 'ERR_JOB_NOT_DEAD', 'there is no such dead letter');
    await this.call('count', { kind: 'redrive-edited', ...dead, payload }, options);
  }

  /** The number of its processes that are connected. */
  async quietWorker(worker: string, quiet: boolean, options: WaitOptions): Promise<number> {
    checkOptions('workers', options, WAIT_OPTIONS);
    return (await this.call('count', { kind: 'worker-quiet', worker, quiet }, options)).count;
  }

  async stopWorker(worker: string, drainMs: number, options: WaitOptions): Promise<number> {
    return (await this.call('count', { kind: 'worker-stop', worker, withinMs: drainMs }, options)).count;
  }

  private async call<Kind extends AdminAnswer['kind']>(
    kind: Kind,
    request: AdminRequest,
    wait: WaitOptions,
  ): Promise<AdminAnswer & { readonly kind: Kind }> {
    const { answer } = await this.calls.call(request, wait);
    if (answer.kind === 'unknown' && request.kind === 'redrive-edited')
      throw new RequestRefusedError(request.kind, 'ERR_JOB_NOT_DEAD', 'there is no such dead letter');
    if (answer.kind !== kind) throw new JobDefinitionError(request.kind, 'the leader gave another answer');
    return answer as AdminAnswer & { readonly kind: Kind }; // compared above
  }

  private pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.timers.setTimer(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      const stop = (): void => {
        timer.cancel();
        reject(signal?.reason as Error); // the reason of an abort
      };
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}
