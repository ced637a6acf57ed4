import { Ring } from '../../collections/ring.js';
import type { JobTable } from '../../ledger/jobs/job-table.js';
import type { AdminRequest, JobView } from '../../protocol/admin-messages.js';
import type { LeaderJob, LeaderState } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';

export type ListRequest = AdminRequest & { readonly kind: 'list' };

/** Jobs that one turn may visit. A job that is shown costs more than one that is skipped. */
const VISITS_PER_TURN = 256;
const VISITS_PER_VIEW = 8;
const PAGE_JOBS_MAX = 1_000;

/** One page of a list in the making. */
interface Listing {
  readonly session: ClientSession;
  readonly call: number;
  readonly request: ListRequest;
  readonly max: number;
  readonly jobs: Iterator<LeaderJob>;
  readonly views: JobView[];
}

/** Lists of jobs, made a slice a turn and in turns: a list over a million jobs holds up no other request. */
export class JobListing {
  private readonly listings = new Ring<Listing>();
  private readonly viewOf: (job: LeaderJob) => JobView | undefined;
  private readonly onDone: (session: ClientSession, call: number, views: readonly JobView[]) => void;

  constructor(
    viewOf: (job: LeaderJob) => JobView | undefined,
    onDone: (session: ClientSession, call: number, views: readonly JobView[]) => void,
  ) {
    this.viewOf = viewOf;
    this.onDone = onDone;
  }

  get size(): number {
    return this.listings.size;
  }

  start(session: ClientSession, call: number, request: ListRequest, jobs: JobTable<LeaderState>): void {
    const max = Math.max(1, Math.min(request.max, PAGE_JOBS_MAX));
    this.listings.push({ session, call, request, max, jobs: jobs.after(request.after), views: [] });
  }

  /** Continues the lists for the share of one turn. */
  step(): void {
    let left = VISITS_PER_TURN;
    while (left > 0) {
      const listing = this.listings.shift();
      if (listing === undefined) return;
      if (listing.session.closed) continue;
      left = this.advance(listing, left);
    }
  }

  private advance(listing: Listing, visits: number): number {
    const { session, call, request, max, jobs, views } = listing;
    let left = visits;
    while (left > 0) {
      const next = jobs.next();
      if (next.done === true || views.length === max) {
        this.onDone(session, call, views);
        return left;
      }
      left -= 1;
      const job = next.value;
      if (job.state !== request.state || !session.permits('observe', job)) continue;
      const view = this.viewOf(job);
      // It is about to be dropped.
      if (view === undefined) continue;
      views.push(view);
      left -= VISITS_PER_VIEW;
    }
    this.listings.push(listing);
    return left;
  }
}
