import { identityOf } from '../../ledger/identity-usage.js';
import { pageNo } from '../../ledger/jobs/job-table-page.js';
import type { JobFilter } from '../../protocol/client/search-messages.js';
import { fingerprintOf } from '../dead-letters/error-fingerprint.js';
import type { LeaderJob, LeaderLedger, LeaderParts } from '../leader-context.js';
import type { JobIndex } from './job-index.js';

/** Finds jobs by their fields, in the order of their numbers. */
export class JobSearch {
  private readonly context: LeaderParts<'fleet' | 'ledger'>;
  private readonly index: JobIndex;

  constructor(context: JobSearch['context'], index: JobIndex) {
    this.context = context;
    this.index = index;
  }

  /** Jobs behind this number that may fit: of the smallest set that is known. */
  *candidates(filter: JobFilter, after: number): Generator<LeaderJob> {
    const { jobs } = this.context.ledger;
    const first = pageNo(after);
    const pages = this.pagesOf(filter);
    for (const page of pages === undefined ? jobs.pageNumbers() : pages.slice(firstFrom(pages, first))) {
      if (page < first || !jobs.mayHave(page, filter)) continue;
      for (const job of jobs.ofPage(page)) if (job.no > after) yield job;
    }
  }

  /** Live and dead jobs are few where most have ended, and are known without their fields. */
  private pagesOf(filter: JobFilter): readonly number[] | undefined {
    const listed = this.index.pagesOf(filter);
    const { state, error, fingerprint } = filter;
    const isDead = state === 'dead' || error !== undefined || fingerprint !== undefined;
    if (state !== 'running' && !isDead) return listed;
    const { ledger, fleet } = this.context;
    if (listed !== undefined && listed.length <= (isDead ? ledger.dead.size : ledger.counts.running))
      return listed;
    const pages = new Set<number>();
    if (isDead) for (const { no } of ledger.dead.values()) pages.add(pageNo(no));
    else
      for (const { leases } of fleet.sessions.values())
        for (const { job } of leases) pages.add(pageNo(job.no));
    return [...pages].sort((a, b) => a - b);
  }
}

/** A job that fits every field. */
export function matches(
  ledger: Pick<LeaderLedger, 'tags'>,
  { state, exec, group, tenant, client, key, orderKey, tag, since = 0, until, error, fingerprint }: JobFilter,
  job: LeaderJob,
): boolean {
  return (
    (state === undefined || job.state === state) &&
    (exec === undefined || job.policy.exec === exec) &&
    (group === undefined || job.policy.group === group) &&
    (client === undefined || job.client === client) &&
    (key === undefined || job.key === key) &&
    (orderKey === undefined || job.orderKey === orderKey) &&
    job.at >= since &&
    (until === undefined || job.at < until) &&
    (tenant === undefined || identityOf(job.client) === tenant) &&
    (tag === undefined || ledger.tags.of(job.no).includes(tag)) &&
    (error === undefined || (job.state === 'dead' && hasText(job, error))) &&
    (fingerprint === undefined || (job.state === 'dead' && hasFingerprint(job, fingerprint)))
  );
}

function hasFingerprint({ policy, end }: LeaderJob, fingerprint: string): boolean {
  return fingerprintOf(policy.exec, end?.failure).id === fingerprint;
}

function hasText({ end }: LeaderJob, text: string): boolean {
  const { failure } = end ?? {};
  return failure !== undefined && `${failure.name} ${failure.code ?? ''} ${failure.message}`.includes(text);
}

/** The first index with a page from this one on. */
function firstFrom(pages: readonly number[], first: number): number {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pages[middle] as number) < first) low = middle + 1;
    else high = middle;
  }
  return low;
}
