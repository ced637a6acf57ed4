import { ForbiddenError, JobDefinitionError } from '../jobs-error.js';
import {
  type ClientMessage,
  type DeskAnswer,
  type DeskRequest,
  type JobView,
  type LeaderOverview,
  TREATED_MAX,
} from '../protocol/client-messages.js';

interface Call {
  readonly request: DeskRequest;
  readonly settle: (answer: DeskAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** Questions and orders to the leader's desk, each kept until it is answered: after a reconnect they are asked again. */
export class DeskCalls {
  private readonly calls = new Map<number, Call>();
  private readonly send: (message: ClientMessage) => void;
  private next = 1;
  private closedBy: Error | undefined = undefined;

  constructor(send: (message: ClientMessage) => void) {
    this.send = send;
  }

  /** The state the job is in then, or undefined if the leader does not know it. */
  async cancel(job: number, reason: string): Promise<JobView['state'] | undefined> {
    const answer = await this.call({ ask: 'cancel', job, reason });
    return answer.answer === 'cancelled' ? answer.state : undefined;
  }

  async inspect(job: number): Promise<JobView | undefined> {
    const answer = await this.call({ ask: 'inspect', job });
    return answer.answer === 'job' ? answer.view : undefined;
  }

  async overview(): Promise<LeaderOverview> {
    const answer = await this.call({ ask: 'overview' });
    if (answer.answer === 'forbidden') throw new ForbiddenError('overview', answer.needed);
    if (answer.answer !== 'overview')
      throw new JobDefinitionError('overview', 'the leader gave another answer');
    return answer.overview;
  }

  async list(state: JobView['state'], after: number, max: number): Promise<readonly JobView[]> {
    const answer = await this.call({ ask: 'list', state, after, max });
    return answer.answer === 'jobs' ? answer.views : [];
  }

  async treat(ask: 'redrive' | 'purge', jobs: readonly number[]): Promise<number> {
    let count = 0;
    for (let at = 0; at < jobs.length; at += TREATED_MAX) {
      const answer = await this.call({ ask, jobs: jobs.slice(at, at + TREATED_MAX) });
      if (answer.answer === 'count') count += answer.count;
    }
    return count;
  }

  answered(call: number, answer: DeskAnswer): void {
    const known = this.calls.get(call);
    this.calls.delete(call);
    known?.settle(answer);
  }

  /** The connection is new. */
  askAgain(): void {
    for (const [call, { request }] of this.calls) this.send({ kind: 'call', call, request });
  }

  close(error: Error): void {
    this.closedBy = error;
    for (const { reject } of this.calls.values()) reject(error);
    this.calls.clear();
  }

  private call(request: DeskRequest): Promise<DeskAnswer> {
    if (this.closedBy !== undefined) return Promise.reject(this.closedBy);
    const call = this.next;
    this.next += 1;
    return new Promise((settle, reject) => {
      this.calls.set(call, { request, settle, reject });
      this.send({ kind: 'call', call, request });
    });
  }
}
