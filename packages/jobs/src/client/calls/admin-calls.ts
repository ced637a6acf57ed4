import type { QueueLimits, QueueMode } from '../../job/queue-control.js';
import {
  CallUnsupportedError,
  CallWaitError,
  ForbiddenError,
  JobDefinitionError,
  RequestRefusedError,
} from '../../jobs-error.js';
import type { JobsTimers } from '../../jobs-host.js';
import type { LeaderActors } from '../../protocol/client/actors-view.js';
import type {
  AdminRequest,
  DeadAttempt,
  JobView,
  LeaderOverview,
  QueueView,
} from '../../protocol/client/admin-messages.js';
import { BULK_JOBS_MAX } from '../../protocol/client/admin-messages.js';
import type { JobExplanation } from '../../protocol/client/explain-messages.js';
import type { RequestAnswer } from '../machine/client-effects.js';
import type { WaitOptions } from './wait-limit.js';

/** The time limit of a call that gives none: a leader that is away must not hold up its caller for ever. */
const CALL_MS = 30_000;

/** A part of the input of a job. */
interface InputPart {
  /** Bytes of the whole input; 0: it is not kept any more. */
  readonly total: number;
  readonly bytes: Uint8Array;
}

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

  /** A part of the input of a job; undefined if the leader does not know the job. */
  async input(job: number, from: number, max: number, wait: WaitOptions): Promise<InputPart | undefined> {
    const { answer } = await this.call({ kind: 'input', job, from, max }, wait);
    if (answer.kind !== 'input') return undefined;
    return { total: answer.total, bytes: Buffer.from(answer.base64, 'base64') };
  }

  async findKey(exec: string, key: string, wait: WaitOptions): Promise<JobView | undefined> {
    const { answer } = await this.call({ kind: 'find-key', exec, key }, wait);
    return answer.kind === 'job' ? answer.view : undefined;
  }

  async releaseKeys(exec: string, keys: readonly string[], wait: WaitOptions): Promise<void> {
    const request = { kind: 'release-keys', exec, keys } as const;
    const { answer } = await this.call(request, wait);
    if (answer.kind !== 'count') throw new JobDefinitionError(request.kind, 'the leader gave another answer');
  }

  async explain(job: number, wait: WaitOptions): Promise<JobExplanation | undefined> {
    const { answer } = await this.call({ kind: 'explain', job }, wait);
    return answer.kind === 'explained' ? answer.explanation : undefined;
  }

  async queues(wait: WaitOptions): Promise<readonly QueueView[]> {
    const { answer } = await this.call({ kind: 'queues' }, wait);
    return answer.kind === 'queues' ? answer.queues : [];
  }

  setLimits(queue: string, limits: QueueLimits, wait: WaitOptions): Promise<QueueView> {
    return this.changeQueue({ kind: 'queue-limits', queue, limits }, wait);
  }

  setMode(queue: string, mode: QueueMode, wait: WaitOptions): Promise<QueueView> {
    return this.changeQueue({ kind: 'queue-mode', queue, mode }, wait);
  }

  private async changeQueue(request: AdminRequest, wait: WaitOptions): Promise<QueueView> {
    const { answer } = await this.call(request, wait);
    if (answer.kind === 'forbidden') throw new ForbiddenError(request.kind, answer.needed);
    if (answer.kind !== 'queue') throw new JobDefinitionError(request.kind, 'the leader gave another answer');
    return answer.queue;
  }

  async overview(wait: WaitOptions): Promise<LeaderOverview> {
    const { answer } = await this.call({ kind: 'overview' }, wait);
    if (answer.kind !== 'overview')
      throw new JobDefinitionError('overview', 'the leader gave another answer');
    return answer.overview;
  }

  async actors(wait: WaitOptions): Promise<LeaderActors> {
    const { answer } = await this.call({ kind: 'actors' }, wait);
    if (answer.kind === 'forbidden') throw new ForbiddenError('actors', answer.needed);
    if (answer.kind !== 'actors') throw new JobDefinitionError('actors', 'the leader gave another answer');
    return answer.actors;
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

  /** Refused where none of these jobs is a dead letter. */
  async redrive(jobs: readonly number[], wait: WaitOptions): Promise<number> {
    const redriven = await this.redriveOrPurge('redrive', jobs, wait);
    if (redriven > 0 || jobs.length === 0) return redriven;
    const dead = await this.deadAttempts(jobs.slice(0, BULK_JOBS_MAX), wait);
    // One whose feed has lost its beginning stays as it is.
    if (dead.length > 0) return 0;
    throw new RequestRefusedError('redrive', 'ERR_JOB_NOT_DEAD', 'none of these jobs is a dead letter');
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

  async deadAttempts(jobs: readonly number[], wait: WaitOptions): Promise<readonly DeadAttempt[]> {
    const { answer } = await this.call({ kind: 'dead-attempts', jobs }, wait);
    return answer.kind === 'dead-attempts' ? answer.items : [];
  }

  /** Throws for an answer that says that nothing was done. */
  async call(request: AdminRequest, wait: WaitOptions): Promise<RequestAnswer> {
    const { withinMs = CALL_MS, signal } = wait;
    const { kind } = request;
    const answered = await this.request(request, { withinMs, signal }, (ms) => new CallWaitError(kind, ms));
    const { answer } = answered;
    if (answer.kind === 'unsupported') throw new CallUnsupportedError(kind, answer.problem);
    if (answer.kind === 'forbidden') throw new ForbiddenError(kind, answer.needed);
    if (answer.kind === 'refused') throw new RequestRefusedError(kind, answer.code, answer.problem);
    return answered;
  }
}
