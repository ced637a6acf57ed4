import { Ring } from '../../collections/ring.js';
import type { LeaderJob } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';

/** Jobs that one turn may visit. A job that is shown costs more than one that is skipped. */
const VISITS_PER_TURN = 1_024;
const VISITS_PER_MATCH = 8;

/** A walk over jobs for one answer. */
export interface JobWalk {
  readonly session: ClientSession;
  readonly jobs: Iterator<LeaderJob>;
  /** True: the job counts for the answer. */
  visit(job: LeaderJob): boolean;
  /** The answer has room for no more jobs. */
  isFull(): boolean;
  /** `isOver`: there are no further jobs. */
  end(isOver: boolean): void;
}

/** Walks over jobs, a slice a turn and in turns: one over a million jobs holds up no other request. */
export class JobWalks {
  private readonly walks = new Ring<JobWalk>();

  get size(): number {
    return this.walks.size;
  }

  start(walk: JobWalk): void {
    this.walks.push(walk);
  }

  /** Continues the walks for the share of one turn. */
  step(): void {
    let left = VISITS_PER_TURN;
    while (left > 0) {
      const walk = this.walks.shift();
      if (walk === undefined) return;
      if (walk.session.closed) continue;
      left = this.advance(walk, left);
    }
  }

  private advance(walk: JobWalk, visits: number): number {
    let left = visits;
    while (left > 0) {
      const next = walk.jobs.next();
      if (next.done === true || walk.isFull()) {
        walk.end(next.done === true);
        return left;
      }
      left -= walk.visit(next.value) ? VISITS_PER_MATCH : 1;
    }
    this.walks.push(walk);
    return left;
  }
}
