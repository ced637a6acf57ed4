// Hot path: no allocation per job once the lanes exist.

import { Ring } from '../../collections/ring.js';
import { TimedHeap } from '../../collections/timed-heap.js';
import type { Job } from '../../ledger/job.js';
import { ClientLane, ClientShare, ExecQueue } from './client-lane.js';

/** Empty lanes are kept for the next job of the same client, up to this many an exec. */
const IDLE_LANES_MAX = 256;
/** Empty queues too, up to this many: a name that is used once must not stay for ever. */
const IDLE_EXECS_MAX = 1_024;

/**
 * Every job that may be assigned, now or at its time (ADR 0055). Execs take turns; inside an exec the clients take turns;
 * a lane whose client is at its cap stands aside. Jobs stand here by their numbers, because one may be given to a worker
 * while its own record is still on the way to the disk (ADR 0058).
 *
 * Invariant: a lane with a job is in its exec's round, or parked with its client; an exec with a lane in its round is in the
 * round of execs, or in the hands of a running dispatch, which puts it back (A27).
 */
export class JobQueues {
  /** By group, then by exec: a group is who may submit and who serves, so the same exec in another group is another queue. */
  private readonly groups = new Map<string, Map<string, ExecQueue>>();
  private execs = 0;
  private readonly shares = new Map<string, ClientShare>();
  private readonly round = new Ring<ExecQueue>();
  private readonly later = new TimedHeap<Job>();
  private readonly runningMax: number;
  private readonly waits: (no: number) => boolean;
  private laterGone = 0;

  /**
   * `runningMax`: attempts one client may have running at once. `waits`: whether the job of that
   * number is still to be assigned.
   */
  constructor(runningMax: number, waits: (no: number) => boolean) {
    this.runningMax = runningMax;
    this.waits = waits;
  }

  /** Queues there are, empty ones included. */
  get size(): number {
    return this.execs;
  }

  get nextDueAt(): number {
    return this.later.nextAt;
  }

  get delayed(): number {
    return this.later.size - this.laterGone;
  }

  /** Lines a job up behind those of its client, or in the heap while its time has not come. */
  add(job: Job, now: number): void {
    if (job.dueAt > now) this.later.push(job.dueAt, job, job.no);
    else this.lineUp(job.no, job.policy, job.client);
  }

  /** The same for a job that the ledger does not know yet. */
  lineUp(no: number, policy: { readonly exec: string; readonly group: string }, client: string): void {
    this.enter(this.laneOf(policy, client), no, false);
  }

  /** An attempt that came to nothing through no fault of the job: it goes before those that came after it. */
  addFirst(job: Job, now: number): void {
    if (job.dueAt > now) this.later.push(job.dueAt, job, job.no);
    else this.enter(this.laneOf(job.policy, job.client), job.no, true);
  }

  /** A queued job was cancelled; its place is emptied when it is met, or when such places outnumber the others. */
  forget(job: Job, now: number): void {
    if (job.dueAt <= now) return;
    this.laterGone += 1;
    if (this.laterGone <= 64 + this.later.size / 2) return;
    this.later.keep((one) => this.waits(one.no));
    this.laterGone = 0;
  }

  promote(now: number): void {
    while (this.later.nextAt <= now) {
      const job = this.later.pop() as Job;
      if (this.waits(job.no)) this.lineUp(job.no, job.policy, job.client);
      else this.laterGone = Math.max(0, this.laterGone - 1);
    }
  }

  /** Takes the next exec out of the round. Whoever takes it gives it back. */
  nextExec(): ExecQueue | undefined {
    const exec = this.round.shift();
    if (exec !== undefined) exec.inRound = false;
    return exec;
  }

  giveBack(exec: ExecQueue): void {
    if (exec.inRound || exec.round.size === 0) return;
    exec.inRound = true;
    this.round.push(exec);
  }

  /** The number of the job whose turn it is in this exec, or 0. Lanes at their cap are parked on the way. */
  peek(exec: ExecQueue): number {
    for (;;) {
      const lane = exec.round.peek();
      if (lane === undefined) return 0;
      const job = this.head(lane);
      if (job !== 0 && lane.share.running < this.runningMax) return job;
      exec.round.shift();
      lane.inRound = false;
      if (job === 0) this.retire(lane);
      else this.park(lane);
    }
  }

  /** Takes the job `peek` showed; its client has one more running. Its turn is over, unless it `batchContinues` (ADR 0086). */
  take(exec: ExecQueue, { batchContinues }: { readonly batchContinues: boolean }): void {
    const lane = exec.round.peek() as ClientLane;
    lane.jobs.shift();
    lane.share.running += 1;
    const isEmpty = this.head(lane) === 0;
    if (batchContinues && !isEmpty) return;
    exec.round.shift();
    lane.inRound = false;
    if (isEmpty) this.retire(lane);
    else this.join(lane);
  }

  /** An attempt of this client was under way when the leader started. */
  resume(client: string): void {
    this.shareOf(client).running += 1;
  }

  /** One attempt of this client is over. */
  release(client: string): void {
    const share = this.shareOf(client);
    share.running -= 1;
    while (share.parked.length > 0 && share.running < this.runningMax) {
      const lane = share.parked.shift() as ClientLane;
      lane.parked = false;
      this.join(lane);
      this.giveBack(lane.exec);
    }
    this.tidy(share);
  }

  private enter(lane: ClientLane, no: number, first: boolean): void {
    if (first) lane.jobs.unshift(no);
    else lane.jobs.push(no);
    if (lane.inRound || lane.parked) return;
    this.join(lane);
    this.giveBack(lane.exec);
  }

  private join(lane: ClientLane): void {
    lane.inRound = true;
    lane.exec.round.push(lane);
  }

  private park(lane: ClientLane): void {
    lane.parked = true;
    lane.share.parked.push(lane);
  }

  private retire(lane: ClientLane): void {
    const { exec, share } = lane;
    if (this.execs > IDLE_EXECS_MAX && exec.isIdle) return this.close(exec);
    if (exec.lanes.size <= IDLE_LANES_MAX) return;
    exec.lanes.delete(share.name);
    this.tidy(share);
  }

  /** Nobody waits in it. A dispatch that has it in hand finds nothing there, and puts nothing back. */
  private close({ exec, group, lanes }: ExecQueue): void {
    const execs = this.groups.get(group);
    execs?.delete(exec);
    if (execs?.size === 0) this.groups.delete(group);
    this.execs -= 1;
    for (const { share } of lanes.values()) this.tidy(share);
  }

  private tidy(share: ClientShare): void {
    if (this.shares.size <= IDLE_LANES_MAX || share.running > 0) return;
    for (const execs of this.groups.values()) {
      for (const exec of execs.values()) if (exec.lanes.has(share.name)) return;
    }
    this.shares.delete(share.name);
  }

  private head(lane: ClientLane): number {
    for (;;) {
      const no = lane.jobs.peek();
      if (no === undefined) return 0;
      if (this.waits(no)) return no;
      lane.jobs.shift();
    }
  }

  private laneOf(
    { exec, group }: { readonly exec: string; readonly group: string },
    client: string,
  ): ClientLane {
    const queue = this.groups.get(group)?.get(exec) ?? this.open(exec, group);
    let lane = queue.lanes.get(client);
    if (lane === undefined) {
      lane = new ClientLane(this.shareOf(client), queue);
      queue.lanes.set(client, lane);
    }
    return lane;
  }

  private open(exec: string, group: string): ExecQueue {
    const queue = new ExecQueue(exec, group);
    this.execs += 1;
    const execs = this.groups.get(group);
    if (execs === undefined) this.groups.set(group, new Map([[exec, queue]]));
    else execs.set(exec, queue);
    return queue;
  }

  private shareOf(client: string): ClientShare {
    let share = this.shares.get(client);
    if (share === undefined) {
      share = new ClientShare(client);
      this.shares.set(client, share);
    }
    return share;
  }
}
