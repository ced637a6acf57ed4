import { Ring } from '../../collections/ring.js';

/** The running attempts of one client, and the lanes that wait because there are too many of them. */
export class ClientQuota {
  readonly client: string;
  running = 0;
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

/** The lanes of one exec in one group, served in turn. */
export class ExecQueue {
  readonly exec: string;
  readonly group: string;
  readonly lanes = new Map<string, ClientLane>();
  readonly round = new Ring<ClientLane>();
  inRound = false;

  constructor(exec: string, group: string) {
    this.exec = exec;
    this.group = group;
  }

  /** No lane has a job: one with a job is in the round, or parked. */
  get isIdle(): boolean {
    if (this.round.size > 0) return false;
    for (const lane of this.lanes.values()) if (lane.isParked) return false;
    return true;
  }
}
