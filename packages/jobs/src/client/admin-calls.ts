import { ForbiddenError, JobDefinitionError } from '../jobs-error.js';
import type { AdminAnswer, AdminRequest, JobView, LeaderOverview } from '../protocol/admin-messages.js';
import { BULK_JOBS_MAX } from '../protocol/admin-messages.js';
import type { ClientMessage } from '../protocol/client-messages.js';

interface Call {
  readonly request: AdminRequest;
  readonly resolve: (answer: AdminAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** Admin requests to the leader, each kept until it is answered: after a reconnect they are repeated. */
export class AdminCalls {
  private readonly calls = new Map<number, Call>();
  private readonly write: (message: ClientMessage) => void;
  private next = 1;
  private closedBy: Error | undefined = undefined;

  constructor(write: (message: ClientMessage) => void) {
    this.write = write;
  }

  /** The state of the job afterwards; undefined if the leader does not know it. */
  async cancel(job: number, reason: string): Promise<JobView['state'] | undefined> {
    const answer = await this.call({ kind: 'cancel', job, reason });
    return answer.kind === 'cancelled' ? answer.state : undefined;
  }

  async inspect(job: number): Promise<JobView | undefined> {
    const answer = await this.call({ kind: 'inspect', job });
    return answer.kind === 'job' ? answer.view : undefined;
  }

  async overview(): Promise<LeaderOverview> {
    const answer = await this.call({ kind: 'overview' });
    if (answer.kind === 'forbidden') throw new ForbiddenError('overview', answer.needed);
    if (answer.kind !== 'overview')
      throw new JobDefinitionError('overview', 'the leader gave another answer');
    return answer.overview;
  }

  async list(state: JobView['state'], after: number, max: number): Promise<readonly JobView[]> {
    const answer = await this.call({ kind: 'list', state, after, max });
    return answer.kind === 'jobs' ? answer.views : [];
  }

  async redriveOrPurge(kind: 'redrive' | 'purge', jobs: readonly number[]): Promise<number> {
    let count = 0;
    for (let at = 0; at < jobs.length; at += BULK_JOBS_MAX) {
      const answer = await this.call({ kind, jobs: jobs.slice(at, at + BULK_JOBS_MAX) });
      if (answer.kind === 'count') count += answer.count;
    }
    return count;
  }

  answered(call: number, answer: AdminAnswer): void {
    const known = this.calls.get(call);
    this.calls.delete(call);
    known?.resolve(answer);
  }

  /** For a new connection. */
  repeat(): void {
    for (const [call, { request }] of this.calls) this.write({ kind: 'call', call, request });
  }

  close(error: Error): void {
    this.closedBy = error;
    for (const { reject } of this.calls.values()) reject(error);
    this.calls.clear();
  }

  private call(request: AdminRequest): Promise<AdminAnswer> {
    if (this.closedBy !== undefined) return Promise.reject(this.closedBy);
    const call = this.next;
    this.next += 1;
    return new Promise((resolve, reject) => {
      this.calls.set(call, { request, resolve, reject });
      this.write({ kind: 'call', call, request });
    });
  }
}
