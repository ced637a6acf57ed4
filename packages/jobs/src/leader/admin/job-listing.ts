import { Ring } from '../../collections/ring.js';
import type { Job } from '../../ledger/job.js';
import type { JobTable } from '../../ledger/job-table.js';
import type { AdminRequest, JobView } from '../../protocol/client-messages.js';
import type { ClientSession } from '../sessions/client-session.js';

export type ListRequest = AdminRequest & { readonly kind: 'list' };

/** What one turn may look at. A job that is shown costs more than one that is passed by. */
const VISITS_A_TURN = 256;
const VISITS_A_VIEW = 8;
const PAGE_MAX = 1_000;

/** One page of a list on its way. */
interface Walk {
  readonly session: ClientSession;
  readonly call: number;
  readonly request: ListRequest;
  readonly max: number;
  readonly jobs: Iterator<Job>;
  readonly views: JobView[];
}

/** Lists of jobs, made a slice a turn and by turns: whoever asks for one among a million jobs holds up nobody else (A37). */
export class JobListing {
  private readonly walks = new Ring<Walk>();
  private readonly view: (job: Job) => JobView;
  private readonly done: (session: ClientSession, call: number, views: readonly JobView[]) => void;

  constructor(
    view: (job: Job) => JobView,
    done: (session: ClientSession, call: number, views: readonly JobView[]) => void,
  ) {
    this.view = view;
    this.done = done;
  }

  get size(): number {
    return this.walks.size;
  }

  start(session: ClientSession, call: number, request: ListRequest, jobs: JobTable): void {
    const max = Math.max(1, Math.min(request.max, PAGE_MAX));
    this.walks.push({ session, call, request, max, jobs: jobs.after(request.after), views: [] });
  }

  /** Goes on with them for the share of one turn. */
  step(): void {
    let left = VISITS_A_TURN;
    while (left > 0) {
      const walk = this.walks.shift();
      if (walk === undefined) return;
      if (walk.session.closed) continue;
      left = this.goOn(walk, left);
    }
  }

  private goOn(walk: Walk, visits: number): number {
    const { session, call, request, max, jobs, views } = walk;
    let left = visits;
    while (left > 0) {
      const next = jobs.next();
      if (next.done === true || views.length === max) {
        this.done(session, call, views);
        return left;
      }
      left -= 1;
      const job = next.value;
      if (job.state !== request.state || !session.may('observe', job)) continue;
      views.push(this.view(job));
      left -= VISITS_A_VIEW;
    }
    this.walks.push(walk);
    return left;
  }
}
