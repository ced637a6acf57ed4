import { CallWaitError, ForbiddenError, JobDefinitionError } from '../jobs-error.js';
import type { JobsHost } from '../jobs-host.js';
import type {
  AdminAnswer,
  AdminRequest,
  DeadAttempt,
  JobView,
  LeaderOverview,
} from '../protocol/admin-messages.js';
import { BULK_JOBS_MAX } from '../protocol/admin-messages.js';
import type { ClientMessage } from '../protocol/client-messages.js';
import { limitWait, type WaitOptions } from './wait-limit.js';

/** The time limit of a call that gives none: a leader that is away must not hold up its caller for ever. */
const CALL_MS = 30_000;

interface Call {
  readonly request: AdminRequest;
  readonly resolve: (answer: CallAnswer) => void;
  readonly reject: (error: Error) => void;
  isRepeated: boolean;
}

interface CallAnswer {
  readonly answer: AdminAnswer;
  /** It was written on more than one connection, so it may have been carried out before this answer. */
  readonly isRepeated: boolean;
}

/**
 * Admin requests to the leader, each kept until it is answered or its time is over: after a reconnect they
 * are repeated. Each can be repeated without a second effect.
 */
export class AdminCalls {
  private readonly calls = new Map<number, Call>();
  private readonly host: JobsHost;
  private readonly write: (message: ClientMessage) => void;
  private next = 1;
  private closedBy: Error | undefined = undefined;

  constructor(host: JobsHost, write: (message: ClientMessage) => void) {
    this.host = host;
    this.write = write;
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
    const startedAt = this.host.now();
    const left = (): WaitOptions => {
      const { withinMs, signal } = wait;
      if (withinMs === undefined) return wait;
      return { withinMs: Math.max(0, withinMs - (this.host.now() - startedAt)), signal };
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

  answered(call: number, answer: AdminAnswer): void {
    const known = this.calls.get(call);
    this.calls.delete(call);
    known?.resolve({ answer, isRepeated: known.isRepeated });
  }

  /** For a new connection. */
  repeat(): void {
    for (const [call, known] of this.calls) {
      known.isRepeated = true;
      this.write({ kind: 'call', call, request: known.request });
    }
  }

  close(error: Error): void {
    this.closedBy = error;
    for (const { reject } of this.calls.values()) reject(error);
    this.calls.clear();
  }

  private call(request: AdminRequest, wait: WaitOptions): Promise<CallAnswer> {
    if (this.closedBy !== undefined) return Promise.reject(this.closedBy);
    const call = this.next;
    this.next += 1;
    let abandon: (error: Error) => void = () => undefined;
    const answer = new Promise<CallAnswer>((resolve, reject) => {
      abandon = (error) => {
        this.calls.delete(call);
        reject(error);
      };
      this.calls.set(call, { request, resolve, reject, isRepeated: false });
      this.write({ kind: 'call', call, request });
    });
    const { withinMs = CALL_MS, signal } = wait;
    const timeoutError = (ms: number): Error => new CallWaitError(request.kind, ms);
    limitWait(this.host, { withinMs, signal }, answer, (error) => abandon(error), timeoutError);
    return answer;
  }
}
