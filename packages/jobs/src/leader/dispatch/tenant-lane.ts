import { Ring } from '../../collections/ring.js';
import type { ExecQueue } from './exec-queue.js';

/** The running attempts of one tenant, and the lanes that wait because there are too many of them. */
export class TenantQuota {
  readonly tenant: string;
  running = 0;
  /** Its lanes in all queues. */
  lanes = 0;
  /** Lanes that left their round because the tenant was at its limit. */
  readonly parked: TenantLane[] = [];

  constructor(tenant: string) {
    this.tenant = tenant;
  }
}

/**
 * The queued jobs of one tenant in one queue, by number, first in first out. Cancelled ones stay until they
 * reach the head.
 */
export class TenantLane {
  readonly quota: TenantQuota;
  readonly queue: ExecQueue;
  readonly jobs = new Ring<number>();
  /** Entries whose jobs have ended; below 0 while the end of a job without an entry is being written. */
  gone = 0;
  inRound = false;
  isParked = false;

  constructor(quota: TenantQuota, queue: ExecQueue) {
    this.quota = quota;
    this.queue = queue;
  }

  /** Jobs that wait here. */
  get size(): number {
    return this.jobs.size - this.gone;
  }
}

/**
 * A tenant is the identity that a handshake has proved, so that another name gives no further turn; where
 * there are no keys, the client.
 */
export function tenantOf(client: string): string {
  const slash = client.lastIndexOf('/');
  return slash < 0 ? client : client.slice(0, slash);
}
