// Hot path: no allocation per job once the lanes exist.

import { Ring } from '../../collections/ring.js';
import type { Job } from '../../ledger/jobs/job.js';
import { JobHeap } from '../../ledger/jobs/job-heap.js';
import { TURN_JOBS_MAX } from '../options/leader-limits.js';
import { ClientLane, ClientQuota } from './client-lane.js';
import { ExecQueue } from './exec-queue.js';

/** Empty lanes are kept for the next job of the same client, up to this many an exec. */
const IDLE_LANES_MAX = 256;
/** Empty queues too, up to this many: an exec that is used once must not stay for ever. */
const IDLE_QUEUES_MAX = 1_024;

/** A queue is found by exec and group: the same exec in another group has other submitters and workers. */
export interface QueueName {
  readonly exec: string;
  readonly group: string;
}

/**
 * Every job that may be assigned, now or at its time (ADR 0405). Execs take turns; inside an exec the clients
 * take turns; a lane whose client is at its limit is parked. Jobs are queued by their numbers, because one
 * may be assigned while its own record is still on its way to the disk (ADR 0407).
 *
 * Invariant: a lane with a job is in its queue's round, or parked with its client; a queue with a lane in its
 * round is in the round of queues, or taken by a running dispatch, which returns it.
 */
export class JobQueues {
  /** By group, then by exec. */
  private readonly groups = new Map<string, Map<string, ExecQueue>>();
  private queueCount = 0;
  private readonly quotas = new Map<string, ClientQuota>();
  private readonly round = new Ring<ExecQueue>();
  private readonly delayedJobs = new JobHeap();
  private readonly runningMax: number;
  private readonly isWaiting: (no: number) => boolean;

  /**
   * `runningMax`: attempts one client may have running at once. `isWaiting`: the job of that number is still
   * to be assigned.
   */
  constructor(runningMax: number, isWaiting: (no: number) => boolean) {
    this.runningMax = runningMax;
    this.isWaiting = isWaiting;
  }

  /** The number of queues, empty ones included. */
  get size(): number {
    return this.queueCount;
  }

  get nextDueAt(): number {
    return this.delayedJobs.nextAt;
  }

  get delayed(): number {
    return this.delayedJobs.size;
  }

  /** Adds a job behind those of its client, or to the delayed jobs until it is due. */
  add(job: Job, now: number): void {
    if (job.dueAt > now) this.delayedJobs.push(job.dueAt, job);
    else this.enqueue(job.no, job.policy, job.client);
  }

  /** The same for a job that is due, and that the ledger need not know yet. */
  enqueue(no: number, name: QueueName, client: string): void {
    this.addTo(this.laneOf(name, client), no, false);
  }

  /**
   * Adds a job whose attempt did not succeed: it goes before jobs of its client that were submitted later.
   */
  addFirst(job: Job, now: number): void {
    if (job.dueAt > now) this.delayedJobs.push(job.dueAt, job);
    else this.addTo(this.laneOf(job.policy, job.client), job.no, true);
  }

  /** A queued job was cancelled. In a lane its entry is removed when it is met. */
  cancelled(job: Job): void {
    this.delayedJobs.remove(job);
  }

  /** Enqueues delayed jobs that are due, a bounded number. False: there are more. */
  promote(now: number): boolean {
    for (let left = TURN_JOBS_MAX; this.delayedJobs.nextAt <= now; left -= 1) {
      if (left === 0) return false;
      const job = this.delayedJobs.pop() as Job;
      if (this.isWaiting(job.no)) this.enqueue(job.no, job.policy, job.client);
    }
    return true;
  }

  /** Takes the next queue out of the round. The caller returns it. */
  takeQueue(): ExecQueue | undefined {
    const queue = this.round.shift();
    if (queue !== undefined) queue.inRound = false;
    return queue;
  }

  returnQueue(queue: ExecQueue): void {
    if (queue.inRound || queue.round.size === 0) return;
    queue.inRound = true;
    this.round.push(queue);
  }

  /**
   * The number of the next job of this queue, or 0. Lanes at the limit of their client are parked on the way.
   */
  peek(queue: ExecQueue): number {
    for (;;) {
      const lane = queue.round.peek();
      if (lane === undefined) return 0;
      const job = this.headOf(lane);
      if (job !== 0 && lane.quota.running < this.runningMax) return job;
      queue.round.shift();
      lane.inRound = false;
      if (job === 0) this.retire(lane);
      else this.park(lane);
    }
  }

  /**
   * Takes the job that `peek` returned; its client has one more running. The turn of its lane is over, unless
   * the batch continues (ADR 0410).
   */
  take(queue: ExecQueue, { batchContinues }: { readonly batchContinues: boolean }): void {
    const lane = queue.round.peek() as ClientLane;
    lane.jobs.shift();
    lane.quota.running += 1;
    const isEmpty = this.headOf(lane) === 0;
    if (batchContinues && !isEmpty) return;
    queue.round.shift();
    lane.inRound = false;
    if (isEmpty) this.retire(lane);
    else this.joinRound(lane);
  }

  /** An attempt of this client was running when the leader started. */
  addRunning(client: string): void {
    this.quotaOf(client).running += 1;
  }

  /** One attempt of this client has ended. */
  removeRunning(client: string): void {
    const quota = this.quotaOf(client);
    quota.running -= 1;
    while (quota.parked.length > 0 && quota.running < this.runningMax) {
      const lane = quota.parked.shift() as ClientLane;
      lane.isParked = false;
      this.joinRound(lane);
      this.returnQueue(lane.queue);
    }
    this.dropIfIdle(quota);
  }

  private addTo(lane: ClientLane, no: number, atHead: boolean): void {
    if (atHead) lane.jobs.unshift(no);
    else lane.jobs.push(no);
    if (lane.inRound || lane.isParked) return;
    this.joinRound(lane);
    this.returnQueue(lane.queue);
  }

  private joinRound(lane: ClientLane): void {
    lane.inRound = true;
    lane.queue.round.push(lane);
  }

  private park(lane: ClientLane): void {
    lane.isParked = true;
    lane.quota.parked.push(lane);
  }

  /** The lane is empty. */
  private retire(lane: ClientLane): void {
    const { queue, quota } = lane;
    if (this.queueCount > IDLE_QUEUES_MAX && queue.isIdle) return this.drop(queue);
    if (queue.lanes.size <= IDLE_LANES_MAX) return;
    queue.lanes.delete(quota.client);
    quota.lanes -= 1;
    this.dropIfIdle(quota);
  }

  /** The queue is empty. A dispatch that has taken it finds no job in it, and does not return it. */
  private drop({ exec, group, lanes }: ExecQueue): void {
    const queues = this.groups.get(group);
    queues?.delete(exec);
    if (queues?.size === 0) this.groups.delete(group);
    this.queueCount -= 1;
    for (const { quota } of lanes.values()) {
      quota.lanes -= 1;
      this.dropIfIdle(quota);
    }
  }

  private dropIfIdle(quota: ClientQuota): void {
    if (this.quotas.size <= IDLE_LANES_MAX || quota.running > 0 || quota.lanes > 0) return;
    this.quotas.delete(quota.client);
  }

  private headOf(lane: ClientLane): number {
    for (;;) {
      const no = lane.jobs.peek();
      if (no === undefined) return 0;
      if (this.isWaiting(no)) return no;
      lane.jobs.shift();
    }
  }

  private laneOf({ exec, group }: QueueName, client: string): ClientLane {
    const queue = this.groups.get(group)?.get(exec) ?? this.makeQueue(exec, group);
    let lane = queue.lanes.get(client);
    if (lane === undefined) {
      lane = new ClientLane(this.quotaOf(client), queue);
      lane.quota.lanes += 1;
      queue.lanes.set(client, lane);
    }
    return lane;
  }

  private makeQueue(exec: string, group: string): ExecQueue {
    const queue = new ExecQueue(exec, group);
    this.queueCount += 1;
    const queues = this.groups.get(group);
    if (queues === undefined) this.groups.set(group, new Map([[exec, queue]]));
    else queues.set(exec, queue);
    return queue;
  }

  private quotaOf(client: string): ClientQuota {
    let quota = this.quotas.get(client);
    if (quota === undefined) {
      quota = new ClientQuota(client);
      this.quotas.set(client, quota);
    }
    return quota;
  }
}
