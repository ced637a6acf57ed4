import type { LeaderParts } from '../leader-context.js';

const DEFAULT_GRACE_MS = 30_000;

interface Unopened {
  /** Lease time. */
  readonly since: number;
  /** The record that ends the feed is staged. */
  isEnding: boolean;
}

/** Running jobs whose feed no client has open. After its grace the feed ends, by a record. */
export class UnopenedFeeds {
  private readonly context: LeaderParts<'leaseTime' | 'ledger' | 'recordTime' | 'stage'>;
  private readonly jobs = new Map<number, Unopened>();

  constructor(context: UnopenedFeeds['context']) {
    this.context = context;
  }

  /** The grace begins. A job that waits holds no runner: its feed stays open. */
  add(no: number): void {
    const { leaseTime: since, ledger } = this.context;
    if (ledger.jobs.get(no)?.state === 'running') this.jobs.set(no, { since, isEnding: false });
  }

  remove(no: number): void {
    this.jobs.delete(no);
  }

  tick(): void {
    const { ledger, leaseTime, recordTime } = this.context;
    for (const [no, unopened] of this.jobs) {
      const job = ledger.jobs.get(no);
      if (job?.state !== 'running' || ledger.feeds.get(no)?.end !== undefined) {
        this.jobs.delete(no);
        continue;
      }
      const { feedGraceMs = DEFAULT_GRACE_MS } = job.policy.limits;
      if (unopened.isEnding || leaseTime - unopened.since < feedGraceMs) continue;
      unopened.isEnding = true;
      this.context.stage({ type: 'feed_end', at: recordTime, job: no });
    }
  }
}
