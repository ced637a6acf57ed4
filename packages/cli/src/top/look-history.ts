import type { LeaderOverview } from '@troupe/jobs';

/** One look at a leader, with what happened since the look before. */
export interface Look {
  /** On the clock of this machine. */
  readonly at: number;
  readonly overview: LeaderOverview;
  readonly acceptedPerS: number;
  /** Jobs that ended in whatever way. */
  readonly endedPerS: number;
  readonly deadPerS: number;
}

const LOOKS_KEPT = 600;

/** The latest looks, oldest first. */
export class LookHistory {
  private readonly kept: Look[] = [];

  get all(): readonly Look[] {
    return this.kept;
  }

  get latest(): Look | undefined {
    return this.kept.at(-1);
  }

  add(overview: LeaderOverview, at: number): Look {
    const before = this.latest;
    const seconds = before === undefined ? 0 : (at - before.at) / 1_000;
    // A restarted leader counts on; another leader at the same address may count less.
    const perS = (now: number, then: number): number => (seconds > 0 ? Math.max(0, now - then) / seconds : 0);
    const look: Look = {
      at,
      overview,
      acceptedPerS: before === undefined ? 0 : perS(overview.accepted, before.overview.accepted),
      endedPerS: before === undefined ? 0 : perS(endedOf(overview), endedOf(before.overview)),
      deadPerS: before === undefined ? 0 : perS(overview.counts.dead, before.overview.counts.dead),
    };
    this.kept.push(look);
    if (this.kept.length > LOOKS_KEPT) this.kept.shift();
    return look;
  }
}

function endedOf({ accepted, counts }: LeaderOverview): number {
  return accepted - counts.queued - counts.running;
}
