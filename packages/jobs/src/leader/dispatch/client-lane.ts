import { Ring } from '../../collections/ring.js';
import type { ExecQueue } from './exec-queue.js';

/** The running attempts of one client, and the lanes that wait because there are too many of them. */
export class ClientQuota {
  readonly client: string;
  running = 0;
  /** Its lanes in all queues. */
  lanes = 0;
  /** Lanes that left their round because the client was at its limit. */
  readonly parked: ClientLane[] = [];

  constructor(client: string) {
    this.client = client;
  }
}

/**
 * The queued jobs of one client for one exec, by number, first in first out. Cancelled ones stay until they
 * reach the head.
 */
export class ClientLane {
  readonly quota: ClientQuota;
  readonly queue: ExecQueue;
  readonly jobs = new Ring<number>();
  inRound = false;
  isParked = false;

  constructor(quota: ClientQuota, queue: ExecQueue) {
    this.quota = quota;
    this.queue = queue;
  }
}
