import { CallUnsupportedError, CallWaitError, ForbiddenError, JobDefinitionError } from '../jobs-error.js';
import type { JobsTimers } from '../jobs-host.js';
import type { AdminRequest, DeadAttempt, JobView, LeaderOverview } from '../protocol/admin-messages.js';
import { BULK_JOBS_MAX } from '../protocol/admin-messages.js';
import type { RequestAnswer } from './machine/client-effects.js';
import type { WaitOptions } from './wait-limit.js';

/** The time limit of a call that gives none: a leader that is away must not hold up its caller for ever. */
const CALL_MS = 30_000;

/** Sends one request; rejects at the limit of the wait. */
export type RequestCall = (
  request: AdminRequest,
  wait: WaitOptions,
  timeoutError: (ms: number) => Error,
) => Promise<RequestAnswer>;

/** Admin requests to the leader, and the meaning of their answers. */
export class AdminCalls {
  private readonly timers: JobsTimers;
  private readonly request: RequestCall;

  constructor(timers: JobsTimers, request: RequestCall) {
    this.timers = timers;
    this.request = request;
  }

  /** The state of the job afterwards; undefined if the leader does not know it. */
  async cancel(job: number, reason: string, wait: WaitOptions): Promise<JobView['state'] | undefined> {
    const { answer } = await this.call({ kind: 'cancel', job, reason }, wait);
    return answer.kind === 'cancelled' ? answer.state : undefined;
  }

  async inspect(job: number, wait: WaitOptions): Promise<JobView | undefined> {
    const { answer } = await this.call({ kind: 'inspect', job }, wait);
    return answer.kind === 'job' ? answer.view : undefined;
  }

  async findKey(exec: string, key: string, wait: WaitOptions): Promise<JobView | undefined> {
    const { answer } = await this.call({ kind: 'find-key', exec, key }, wait);
    return answer.kind === 'job' ? answer.view : undefined;
  }

  async overview(wait: WaitOptions): Promise<LeaderOverview> {
    const { answer } = await this.call({ kind: 'overview' }, wait);
    if (answer.kind === 'forbidden') throw new ForbiddenError('overview', answer.needed);
    if (answer.kind !== 'overview')
      throw new JobDefinitionError('overview', 'the leader gave another answer');
    return answer.overview;
  }

  async list(
    state: JobView['state'],
    after: number,
    max: number,
    wait: WaitOptions,
  ): Promise<readonly JobView[]> {
    const { answer } = await this.call({ kind: 'list', state, after, max }, wait);
    return answer.kind === 'jobs' ? answer.views : [];
  }

  /**
   * In two steps: the deaths that are meant, then the change of exactly these. A repeated request changes no
   * job that has died again since.
   */
  async redriveOrPurge(
    kind: 'redrive' | 'purge',
    jobs: readonly number[],
    wait: WaitOptions,
  ): Promise<number> {
    const startedAt = this.timers.now();
    const left = (): WaitOptions => {
      const { withinMs, signal } = wait;
      if (withinMs === undefined) return wait;
      return { withinMs: Math.max(0, withinMs - (this.timers.now() - startedAt)), signal };
    };
    let count = 0;
    for (let at = 0; at < jobs.length; at += BULK_JOBS_MAX) {
      const dead = await this.deadAttempts(jobs.slice(at, at + BULK_JOBS_MAX), left());
      if (dead.length === 0) continue;
      const request = { kind, jobs: dead.map(({ job }) => job), attempts: dead.map((one) => one.attempt) };
      const { answer, isRepeated } = await this.call(request, left());
      // The answer to the first request, which changed all of them, may be the one that was lost.
      if (answer.kind === 'count') count += isRepeated ? dead.length : answer.count;
    }
    return count;
  }

  private async deadAttempts(jobs: readonly number[], wait: WaitOptions): Promise<readonly DeadAttempt[]> {
    const { answer } = await this.call({ kind: 'dead-attempts', jobs }, wait);
    return answer.kind === 'dead-attempts' ? answer.items : [];
  }

  private async call(request: AdminRequest, wait: WaitOptions): Promise<RequestAnswer> {
    const { withinMs = CALL_MS, signal } = wait;
    const { kind } = request;
    const answered = await this.request(request, { withinMs, signal }, (ms) => new CallWaitError(kind, ms));
    if (answered.answer.kind === 'unsupported') throw new CallUnsupportedError(kind, answered.answer.problem);
    return answered;
  }
}
