// Hot path: no allocation per job once the lanes exist.

import { ALL_QUEUES } from '../../job/queue-control.js';
import type { Job } from '../../ledger/jobs/job.js';
import { JobHeap } from '../../ledger/jobs/job-heap.js';
import type { QueueControl } from '../../ledger/queue-controls.js';
import { TURN_JOBS_MAX } from '../options/leader-limits.js';
import type { ExecQueue, QueueName } from './exec-queue.js';
import { ExecQueues } from './exec-queues.js';
import { OrderGates } from './limits/order-gates.js';
import { QueueGates } from './limits/queue-gates.js';
import { placeInLine } from './place-in-line.js';
import { PriorityClass } from './priority-class.js';
import { RestoredJobs } from './restored-jobs.js';
import { TenantLane, TenantQuota, tenantOf } from './tenant-lane.js';

/** Empty lanes are kept for the next job of the same tenant, up to this many a queue. */
const IDLE_LANES_MAX = 256;
/** Empty queues too, up to this many: an exec that is used once must not stay for ever. */
const IDLE_QUEUES_MAX = 1_024;

/** The part of a job that its queue has to know. */
export interface WaitingJobs {
  /** The job of that number is still to be assigned. */
  isWaiting(no: number): boolean;
  /** Since when it may begin. */
  waitsSince(no: number): number;
  /** It is back by a redrive, and no attempt has ended since. */
  isRedriven(no: number): boolean;
}

/**
 * Every job that may be assigned, now or at its time (ADR 0405, 0425). The highest class has its turn; in a
 * class execs take turns; inside an exec the tenants take turns; a lane whose tenant is at its limit is
 * parked. Jobs are queued by their numbers, because one may be assigned while its own record is still on its
 * way to the disk (ADR 0407).
 *
 * Invariant: a lane with a job is in its queue's round, or parked with its tenant; a queue with a lane in its
 * round is in the round of its class, parked at its gate, or taken by a running dispatch, which returns it.
 */
export class JobQueues {
  readonly gates = new QueueGates();
  readonly orderGates: OrderGates;
  readonly runningMax: number;
  private readonly queues = new ExecQueues(this.gates);
  private readonly quotas = new Map<string, TenantQuota>();
  private readonly classes: PriorityClass[] = [];
  private turns = 0;
  private readonly delayedJobs = new JobHeap();
  private readonly jobs: WaitingJobs;
  private readonly restoredJobs = new RestoredJobs();
  /** Of the turn. */
  private now = 0;
  private tickedAt = 0;

  /** `runningMax`: attempts one tenant may have running at once. */
  constructor(runningMax: number, jobs: WaitingJobs) {
    this.runningMax = runningMax;
    this.jobs = jobs;
    this.orderGates = new OrderGates(
      (no) => this.jobs.isWaiting(no),
      (no, name, tenant) => this.addTo(this.laneOf(name, tenant), no, false),
    );
  }

  /** The number of queues, empty ones included. */
  get size(): number {
    return this.queues.size;
  }

  /** When the next job is due, by its delay or by a rate. */
  get nextDueAt(): number {
    return Math.min(this.delayedJobs.nextAt, this.orderGates.nextAt, this.gates.nextAt(this.now));
  }

  get delayed(): number {
    return this.delayedJobs.size;
  }

  /** Adds a job behind those of its tenant, or to the delayed jobs until it is due. */
  add(job: Job, now: number): void {
    if (job.dueAt > now) this.delayedJobs.push(job.dueAt, job);
    else this.enqueue(job.no, job.policy, job.client, job.orderKey);
  }

  /** The same for a job that is due, and that the ledger need not know yet. */
  enqueue(no: number, name: QueueName, client: string, orderKey = ''): void {
    const tenant = tenantOf(client);
    if (orderKey !== '' && !this.orderGates.enter(no, name, tenant, orderKey, AT_TAIL)) return;
    this.addTo(this.laneOf(name, tenant), no, false);
  }

  /**
   * Adds a job whose attempt did not succeed: it goes before jobs of its tenant that were submitted later.
   * It has kept its order key.
   */
  addFirst(job: Job, now: number): void {
    if (job.dueAt > now) this.delayedJobs.push(job.dueAt, job);
    else this.addTo(this.laneOf(job.policy, tenantOf(job.client)), job.no, true);
  }

  /** A dead letter is queued again: it goes before the jobs that wait for its order key. */
  addRedriven(job: Job, now: number): void {
    const { no, policy, client, orderKey } = job;
    if (orderKey === '') return this.add(job, now);
    const tenant = tenantOf(client);
    if (this.orderGates.enter(no, policy, tenant, orderKey, AT_HEAD))
      this.addTo(this.laneOf(policy, tenant), no, false);
  }

  /**
   * A queued job is cancelled, and has its order key still. Its entry in a lane or in the line of its key is
   * removed when it is met.
   */
  cancelled(job: Job): void {
    const { no, policy, client, orderKey } = job;
    if (this.delayedJobs.remove(job)) return;
    const tenant = tenantOf(client);
    if (orderKey !== '' && this.orderGates.leaveLine(no, policy, tenant, orderKey)) return;
    const lane = this.queues.find(policy)?.lanes.get(tenant);
    if (lane === undefined) return;
    lane.gone += 1;
    if (lane.jobs.size === 0 && !lane.inRound && !lane.isParked) this.retire(lane);
  }

  /** The job has ended: the next of its order key may begin. */
  ended(no: number): void {
    this.orderGates.release(no);
  }

  /** A queued job from before a restart. */
  restore(job: Job, now: number): void {
    if (job.orderKey === '') this.add(job, now);
    else this.restoredJobs.add(job);
  }

  /**
   * All jobs are here: those with an order key enter in their order. Jobs that have begun once come first:
   * they had their key.
   */
  restored(now: number): void {
    this.orderGates.now = now;
    for (const job of this.restoredJobs.takeInOrder(this.jobs)) {
      const { no, policy, client, orderKey } = job;
      if (job.attempt > 0) this.orderGates.restore(no, policy, tenantOf(client), orderKey, false);
      this.add(job, now);
    }
  }

  /** Enqueues delayed jobs that are due, a bounded number, and opens gates. False: there are more. */
  promote(now: number): boolean {
    this.now = now;
    this.orderGates.wake(now);
    for (const queue of this.gates.opened(now)) this.returnQueue(queue);
    for (let left = TURN_JOBS_MAX; this.delayedJobs.nextAt <= now; left -= 1) {
      if (left === 0) return false;
      const job = this.delayedJobs.pop() as Job;
      this.enqueue(job.no, job.policy, job.client, job.orderKey);
    }
    return true;
  }

  /** Queues with jobs that are due. */
  *occupied(): Generator<ExecQueue, void, void> {
    for (const queue of this.queues.values()) if (queue.size > 0) yield queue;
  }

  /** Takes the next queue out of the round. The caller returns it. */
  takeQueue(): ExecQueue | undefined {
    const { all } = this.gates;
    if (all !== undefined && !all.isOpen(this.now)) return undefined;
    for (;;) {
      const queue = this.nextClass()?.round.shift();
      if (queue === undefined) return undefined;
      queue.inRound = false;
      if (queue.gate === undefined || queue.gate.isOpen(this.now)) return queue;
      queue.gate.park(queue);
    }
  }

  returnQueue(queue: ExecQueue): void {
    if (queue.inRound || queue.isParked || queue.round.size === 0) return;
    queue.inRound = true;
    this.classOf(queue.priority).round.push(queue);
  }

  /**
   * The number of the next job of this queue, or 0. Lanes at the limit of their tenant are parked on the way.
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
   * Takes the job that `peek` returned; its tenant has one more running. The turn of its lane is over, unless
   * the batch continues (ADR 0410).
   */
  take(queue: ExecQueue, { batchContinues }: { readonly batchContinues: boolean }): void {
    const lane = queue.round.peek() as TenantLane;
    this.orderGates.started(lane.jobs.shift() as number);
    lane.quota.running += 1;
    queue.running += 1;
    queue.starts += 1;
    queue.gate?.started(this.now);
    this.gates.all?.started(this.now);
    const isEmpty = this.headOf(lane) === 0;
    if (batchContinues && !isEmpty) return;
    queue.round.shift();
    lane.inRound = false;
    if (isEmpty) this.retire(lane);
    else this.joinRound(lane);
  }

  /** Attempts of the tenant of this client that run. */
  runningOf(client: string): number {
    return this.quotas.get(tenantOf(client))?.running ?? 0;
  }

  /** An attempt of this job was running when the leader started. */
  addRunning({ no, policy, client, orderKey }: Pick<Job, 'no' | 'policy' | 'client' | 'orderKey'>): void {
    const tenant = tenantOf(client);
    const queue = this.queues.get(policy);
    this.quotaOf(tenant).running += 1;
    queue.running += 1;
    if (queue.gate !== undefined) queue.gate.running += 1;
    if (this.gates.all !== undefined) this.gates.all.running += 1;
    if (orderKey !== '') this.orderGates.restore(no, policy, tenant, orderKey, true);
  }

  /** One attempt of this job has ended. */
  removeRunning({ policy, client }: Pick<Job, 'policy' | 'client'>): void {
    this.attemptEnded(this.queues.get(policy));
    const quota = this.quotaOf(tenantOf(client));
    quota.running -= 1;
    while (quota.parked.length > 0 && quota.running < this.runningMax) {
      const lane = quota.parked.shift() as TenantLane;
      lane.isParked = false;
      this.joinRound(lane);
      this.returnQueue(lane.queue);
    }
    this.dropIfIdle(quota);
  }

  private attemptEnded(queue: ExecQueue): void {
    const { gate } = queue;
    queue.running -= 1;
    this.gates.all?.ended();
    if (this.queues.size > IDLE_QUEUES_MAX && queue.isIdle) this.drop(queue);
    if (gate === undefined) return;
    gate.ended();
    if (gate.hasParked && gate.isOpen(this.now))
      for (const parked of gate.takeParked()) this.returnQueue(parked);
  }

  /**
   * An operator has changed a queue; undefined: nothing is set for it any more. A bucket of tokens is full,
   * or was empty at `emptyAt`.
   */
  controlChanged(queue: string, control: QueueControl | undefined, emptyAt = Number.NEGATIVE_INFINITY): void {
    const queues = this.queuesOf(queue);
    if (control === undefined)
      for (const parked of this.gates.remove(queue, queues)) this.returnQueue(parked);
    else {
      const gate = this.gates.change(control, queues, emptyAt);
      for (const parked of gate.takeParked()) this.returnQueue(parked);
    }
    if (queue !== ALL_QUEUES) this.orderGates.setRule(queue, control?.limits ?? {}, emptyAt);
  }

  /**
   * Once a tick: rates are measured, and classes rise with the age of their oldest job that a worker can run:
   * one that waits for a worker must not lift the others of its priority.
   */
  tick(now: number, canServe: (queue: ExecQueue) => boolean): void {
    if (this.tickedAt > 0) for (const queue of this.queues.values()) queue.sample(now - this.tickedAt);
    this.tickedAt = now;
    // With one class there is nothing to decide.
    if (this.classes.length > 1) this.age(now, canServe);
  }

  private age(now: number, canServe: (queue: ExecQueue) => boolean): void {
    for (const one of this.classes) {
      let oldest = now;
      for (let at = 0; at < one.round.size; at += 1) {
        const queue = one.round.at(at) as ExecQueue;
        const since = this.oldestOf(queue, now);
        if (since < oldest && canServe(queue)) oldest = since;
      }
      one.age(now - oldest);
    }
  }

  /** The queues of a `group/exec`, or all. */
  queuesOf(name: string): readonly ExecQueue[] {
    return this.queues.named(name);
  }

  /** Jobs before this one in the line of its order key; -1: it does not wait there. */
  placeBehindKey({
    no,
    policy,
    client,
    orderKey,
  }: Pick<Job, 'no' | 'policy' | 'client' | 'orderKey'>): number {
    const gate = orderKey === '' ? undefined : this.orderGates.gate(policy, tenantOf(client), orderKey);
    return gate?.placeOf(no, this.jobs.isWaiting) ?? -1;
  }

  /** For those that look. Undefined: it has had no job, or none for long. */
  queue(name: QueueName): ExecQueue | undefined {
    return this.queues.find(name);
  }

  /** Jobs before this one in the lane of its tenant; -1: it is not in its lane. */
  placeInLane({ no, policy, client }: Pick<Job, 'no' | 'policy' | 'client'>): number {
    const lane = this.queues.find(policy)?.lanes.get(tenantOf(client));
    return lane === undefined ? -1 : placeInLine(lane.jobs, no, lane.gone, this.jobs.isWaiting);
  }

  quota(client: string): TenantQuota | undefined {
    return this.quotas.get(tenantOf(client));
  }

  /** Highest first. */
  get classesByLevel(): readonly PriorityClass[] {
    return [...this.classes].sort((one, other) => other.level - one.level);
  }

  private oldestOf(queue: ExecQueue, now: number): number {
    let oldest = now;
    for (let at = 0; at < queue.round.size; at += 1) {
      const head = this.headOf(queue.round.at(at) as TenantLane);
      if (head !== 0) oldest = Math.min(oldest, this.jobs.waitsSince(head));
    }
    return oldest;
  }

  private nextClass(): PriorityClass | undefined {
    const { classes } = this;
    if (classes.length === 1) return classes[0];
    let best: PriorityClass | undefined;
    for (const one of classes) {
      if (one.round.size === 0) continue;
      if (best === undefined || one.level > best.level || (one.level === best.level && one.turn < best.turn))
        best = one;
    }
    if (best === undefined) return undefined;
    this.turns += 1;
    best.turn = this.turns;
    return best;
  }

  private classOf(priority: number): PriorityClass {
    for (const one of this.classes) if (one.priority === priority) return one;
    const made = new PriorityClass(priority);
    this.classes.push(made);
    return made;
  }

  private addTo(lane: TenantLane, no: number, atHead: boolean): void {
    if (atHead) lane.jobs.unshift(no);
    else lane.jobs.push(no);
    if (lane.inRound || lane.isParked) return;
    this.joinRound(lane);
    this.returnQueue(lane.queue);
  }

  private joinRound(lane: TenantLane): void {
    lane.inRound = true;
    lane.queue.round.push(lane);
  }

  private park(lane: TenantLane): void {
    lane.isParked = true;
    lane.quota.parked.push(lane);
  }

  /** The lane is empty. */
  private retire(lane: TenantLane): void {
    const { queue, quota } = lane;
    if (this.queues.size > IDLE_QUEUES_MAX && queue.isIdle) return this.drop(queue);
    if (queue.lanes.size <= IDLE_LANES_MAX || lane.gone !== 0) return;
    queue.lanes.delete(quota.tenant);
    quota.lanes -= 1;
    this.dropIfIdle(quota);
  }

  /** The queue is empty. A dispatch that has taken it finds no job in it, and does not return it. */
  private drop(queue: ExecQueue): void {
    this.queues.remove(queue);
    for (const { quota } of queue.lanes.values()) {
      quota.lanes -= 1;
      this.dropIfIdle(quota);
    }
  }

  private dropIfIdle(quota: TenantQuota): void {
    if (this.quotas.size <= IDLE_LANES_MAX || quota.running > 0 || quota.lanes > 0) return;
    this.quotas.delete(quota.tenant);
  }

  private headOf(lane: TenantLane): number {
    for (;;) {
      const no = lane.jobs.peek();
      if (no === undefined) return 0;
      if (this.jobs.isWaiting(no)) return no;
      lane.jobs.shift();
      lane.gone -= 1;
    }
  }

  private laneOf(name: QueueName, tenant: string): TenantLane {
    const queue = this.queues.get(name);
    let lane = queue.lanes.get(tenant);
    if (lane === undefined) {
      lane = new TenantLane(this.quotaOf(tenant), queue);
      lane.quota.lanes += 1;
      queue.lanes.set(tenant, lane);
    }
    return lane;
  }

  private quotaOf(tenant: string): TenantQuota {
    let quota = this.quotas.get(tenant);
    if (quota === undefined) {
      quota = new TenantQuota(tenant);
      this.quotas.set(tenant, quota);
    }
    return quota;
  }
}

const AT_TAIL = { atHead: false };
const AT_HEAD = { atHead: true };
