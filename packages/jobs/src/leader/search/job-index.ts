// Hot path: `add` runs once per job.
import { identityOf } from '../../ledger/identity-usage.js';
import { pageNo } from '../../ledger/jobs/job-table-page.js';
import type { LeaderJob, LeaderLedger } from '../leader-context.js';
import { PageIndex } from './page-index.js';

/** The fields of a job that it can be found by without a walk over all. */
export interface IndexedFields {
  readonly exec?: string | undefined;
  readonly tenant?: string | undefined;
  readonly client?: string | undefined;
  readonly key?: string | undefined;
  readonly orderKey?: string | undefined;
  readonly tag?: string | undefined;
}

/**
 * Where jobs are, by exec, tenant, client, idempotency key, order key and tag. Derived from the ledger: a
 * restart makes it again.
 */
export class JobIndex {
  private readonly ledger: Pick<LeaderLedger, 'jobs' | 'tags'>;
  private readonly execs = new PageIndex();
  private readonly tenants = new PageIndex();
  private readonly clients = new PageIndex();
  private readonly keys = new PageIndex();
  private readonly orderKeys = new PageIndex();
  private readonly tags = new PageIndex();
  /** Most jobs come in runs of one exec and one client. */
  private lastPage = -1;
  private lastExec = '';
  private lastClient = '';

  constructor(ledger: JobIndex['ledger']) {
    this.ledger = ledger;
  }

  /** A job is in the ledger. Jobs come in the order of their numbers. */
  add(no: number, job: Pick<LeaderJob, 'policy' | 'client' | 'key' | 'orderKey'>): void {
    const { policy, client, key, orderKey } = job;
    const page = pageNo(no);
    if (page !== this.lastPage || policy.exec !== this.lastExec || client !== this.lastClient) {
      this.lastPage = page;
      this.lastExec = policy.exec;
      this.lastClient = client;
      this.execs.add(policy.exec, page);
      this.tenants.add(identityOf(client), page);
      this.clients.add(client, page);
    }
    if (key !== '') this.keys.add(key, page);
    if (orderKey !== '') this.orderKeys.add(orderKey, page);
    if (this.ledger.tags.size > 0) for (const tag of this.ledger.tags.of(no)) this.tags.add(tag, page);
  }

  /** The pages that may have such jobs, in order: the shortest list. Undefined: no such field is given. */
  pagesOf({ exec, tenant, client, key, orderKey, tag }: IndexedFields): readonly number[] | undefined {
    const lists = [
      exec === undefined ? undefined : this.execs.of(exec),
      tenant === undefined ? undefined : this.tenants.of(tenant),
      client === undefined ? undefined : this.clients.of(client),
      key === undefined ? undefined : this.keys.of(key),
      orderKey === undefined ? undefined : this.orderKeys.of(orderKey),
      tag === undefined ? undefined : this.tags.of(tag),
    ].filter((list) => list !== undefined);
    return lists.sort((a, b) => a.length - b.length)[0];
  }

  /** Once a tick. */
  sweep(): void {
    const { jobs } = this.ledger;
    const exists = (page: number): boolean => jobs.hasPage(page);
    const { execs, tenants, clients, keys, orderKeys, tags } = this;
    // The page of the latest job may be dropped, and made again for the next one.
    this.lastPage = -1;
    for (const index of [execs, tenants, clients, keys, orderKeys, tags]) index.sweep(exists);
  }
}
