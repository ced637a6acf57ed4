import { Ring } from '../../collections/ring.js';

/** What one client has running. */
export class ClientShare {
  readonly name: string;
  running = 0;
  /** Lanes that left their round because the client was at its cap. */
  readonly parked: ClientLane[] = [];

  constructor(name: string) {
    this.name = name;
  }
}

/** The numbers of the waiting jobs of one client for one exec, first in first out. Cancelled ones stay until they come to the head. */
export class ClientLane {
  readonly share: ClientShare;
  readonly exec: ExecQueue;
  readonly jobs = new Ring<number>();
  inRound = false;
  parked = false;

  constructor(share: ClientShare, exec: ExecQueue) {
    this.share = share;
    this.exec = exec;
  }
}

/** The lanes of one exec in one group, taking turns. */
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

  /** A lane that has a job is in the round, or parked. */
  get isIdle(): boolean {
    if (this.round.size > 0) return false;
    for (const lane of this.lanes.values()) if (lane.parked) return false;
    return true;
  }
}
