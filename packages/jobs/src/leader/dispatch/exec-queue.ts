import { Ring } from '../../collections/ring.js';
import type { ClientLane } from './client-lane.js';

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
