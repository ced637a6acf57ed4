import type { JobPolicy } from '#src/job/definition/job-policy.js';
import { ALL_QUEUES, type QueueLimits, type QueueMode, queueOf } from '#src/job/queue-control.js';
import type {
  AssignRecord,
  ExpireRecord,
  QueueLimitsRecord,
  QueueModeRecord,
} from '#src/ledger/ledger-record.js';

/** The part of a job's model that order and limits are about. */
export interface OrderedJob {
  readonly no: number;
  readonly policy: JobPolicy;
  readonly client: string;
  readonly orderKey: string;
  readonly at: number;
  readonly isDelayed: boolean;
  state: string;
  attempt: number;
  failures: number;
  crashes: number;
  /** Latest first: when it may begin, in record time. */
  since: number;
  /** In record time. */
  endedAt: number;
  /** It is back in its queue by a redrive, and has not begun since. */
  isRedriven: boolean;
}

/** The worker that has the label of the simulation. */
export const LABELLED = 'worker0';
export const LABEL = 'big';

/** A change is in force once its leader has applied it; starts that were decided before may follow it. */
const IN_FORCE_MS = 250;
const AGEING_MS = 10_000;

interface Control {
  mode: QueueMode;
  limits: QueueLimits;
  /** In virtual time, and in record time. */
  changedAt: number;
  recordedAt: number;
  tokens: number;
  filledAt: number;
  /** The most jobs of a key that may have entered the queue so far; they begin whatever the limit is then. */
  keyMost: number;
}

/**
 * The rule of dispatch (docs/guides/control.md) over the records: every start is checked against the jobs,
 * limits and modes that the log had before it.
 */
export class OrderModel {
  private readonly jobs: ReadonlyMap<number, OrderedJob>;
  private readonly now: () => number;
  private readonly problem: (text: string) => void;
  private readonly controls = new Map<string, Control>();
  /** When a job of a priority that had waited long was last started, in record time. */
  private readonly agedAt = new Map<number, number>();

  constructor(jobs: ReadonlyMap<number, OrderedJob>, now: () => number, problem: (text: string) => void) {
    this.jobs = jobs;
    this.now = now;
    this.problem = problem;
  }

  changed(record: QueueLimitsRecord | QueueModeRecord): void {
    const { mode = 'open', limits = {}, keyMost: most = 1 } = this.controls.get(record.queue) ?? {};
    const next =
      record.type === 'queue_mode' ? { mode: record.mode, limits } : { mode, limits: record.limits };
    const { rate } = next.limits;
    const tokens = rate === undefined ? 0 : (rate.burst ?? rate.jobs);
    const keyMost = Math.max(most, next.limits.keyRunningMax ?? 1);
    const filledAt = record.at;
    const times = { changedAt: this.now(), recordedAt: record.at };
    this.controls.set(record.queue, { ...next, ...times, tokens, filledAt, keyMost });
  }

  expired(job: OrderedJob | undefined, { at }: ExpireRecord): void {
    if (job === undefined) return;
    const { startWithinMs = Number.POSITIVE_INFINITY } = job.policy;
    if (job.attempt > 0 || at < job.since + startWithinMs)
      this.problem(`job ${job.no} expires ${at - job.since} ms after it may begin, attempt ${job.attempt}`);
  }

  /** Before the state of the job changes. */
  assigned(job: OrderedJob, record: AssignRecord): void {
    if (record.at < job.since) this.problem(`job ${job.no} begins ${job.since - record.at} ms before it may`);
    this.checkDeadline(job, record);
    this.checkKey(job);
    this.checkPriority(job, record);
    if (isOld(job, record.at)) this.agedAt.set(priorityOf(job), record.at);
    const { requires = [] } = job.policy;
    if (requires.length > 0 && !record.worker.startsWith(LABELLED))
      this.problem(`job ${job.no} requires a label, and goes to ${record.worker}`);
    for (const queue of [ALL_QUEUES, queueOf(job.policy)]) this.checkQueue(queue, job, record);
  }

  private checkDeadline(job: OrderedJob, { at }: AssignRecord): void {
    const { startWithinMs = Number.POSITIVE_INFINITY } = job.policy;
    if (job.attempt === 0 && at > job.since + startWithinMs + IN_FORCE_MS)
      this.problem(`job ${job.no} begins ${at - job.since} ms after its submit, ${startWithinMs} allowed`);
  }

  private checkKey(job: OrderedJob): void {
    if (job.orderKey === '') return;
    const control = this.controls.get(queueOf(job.policy));
    const max = control?.keyMost ?? 1;
    const others = [...this.jobs.values()].filter((other) => other !== job && hasSameKey(other, job));
    const holders = others.filter(isHolder);
    if (holders.length >= max)
      this.problem(`job ${job.no} begins while ${holders.map(({ no }) => no).join()} have its order key`);
    // Priorities may change the order of several that are in the queue at once.
    const isFirst = job.attempt === 0 && !job.isDelayed && max === 1;
    const passed = others.find(
      (other) => other.state === 'queued' && other.attempt === 0 && !other.isDelayed && other.no < job.no,
    );
    if (isFirst && passed !== undefined)
      this.problem(`job ${job.no} begins before job ${passed.no} of the same order key`);
  }

  /** Of one client and one exec, where nothing but the priority can differ. */
  private checkPriority(job: OrderedJob, { at }: AssignRecord): void {
    if (this.controls.size > 0 || !isPlain(job) || job.attempt > 0) return;
    const waiting = [...this.jobs.values()].filter((other) => other.state === 'queued' && other !== job);
    const own = priorityOf(job);
    if (this.isAged(own, at)) return;
    const passed = waiting.find(
      (other) =>
        isPlain(other) &&
        other.attempt === 0 &&
        other.client === job.client &&
        queueOf(other.policy) === queueOf(job.policy) &&
        priorityOf(other) > own &&
        !other.isDelayed &&
        at - other.since > IN_FORCE_MS,
    );
    if (passed !== undefined)
      this.problem(
        `job ${job.no} of priority ${own} begins before job ${passed.no} of ${priorityOf(passed)}`,
      );
  }

  /** By a job that waits, or did at the last tick of the leader. */
  private isAged(priority: number, at: number): boolean {
    if (at - (this.agedAt.get(priority) ?? Number.NEGATIVE_INFINITY) <= IN_FORCE_MS) return true;
    const isRecent = ({ state, endedAt }: OrderedJob): boolean =>
      state === 'queued' || (state !== 'running' && at - endedAt <= IN_FORCE_MS);
    return [...this.jobs.values()].some(
      (job) => priorityOf(job) === priority && isRecent(job) && isOld(job, at),
    );
  }

  private checkQueue(queue: string, job: OrderedJob, { at }: AssignRecord): void {
    const control = this.controls.get(queue);
    if (control === undefined || !this.isInForce(control, at)) return;
    const { mode, limits } = control;
    if (mode === 'paused') this.problem(`job ${job.no} begins while ${queue} is paused`);
    const { runningMax = Number.POSITIVE_INFINITY, rate } = limits;
    const running = [...this.jobs.values()].filter(
      ({ state, policy }) => state === 'running' && (queue === ALL_QUEUES || queueOf(policy) === queue),
    ).length;
    if (running >= runningMax)
      this.problem(`job ${job.no} begins with ${running} attempts in ${queue}, ${runningMax} allowed`);
    if (rate === undefined) return;
    const burst = rate.burst ?? rate.jobs;
    const gained = (Math.max(0, at - control.filledAt) * rate.jobs) / rate.perMs;
    control.tokens = Math.min(burst, control.tokens + gained) - 1;
    control.filledAt = Math.max(at, control.filledAt);
    if (control.tokens < -0.001) this.problem(`job ${job.no} begins beyond the rate of ${queue}`);
  }

  /** By both times: records that a leader wrote before its crash are seen later, together. */
  private isInForce({ changedAt, recordedAt }: Control, at: number): boolean {
    return this.now() - changedAt > IN_FORCE_MS && at - recordedAt > IN_FORCE_MS;
  }
}

function priorityOf({ policy }: OrderedJob): number {
  return policy.priority ?? 4;
}

function isOld({ since }: OrderedJob, at: number): boolean {
  return at - since >= AGEING_MS - IN_FORCE_MS;
}

function isPlain({ policy, orderKey }: OrderedJob): boolean {
  return orderKey === '' && policy.requires === undefined && policy.streaming === undefined;
}

function hasSameKey(one: OrderedJob, other: OrderedJob): boolean {
  return (
    one.orderKey === other.orderKey &&
    queueOf(one.policy) === queueOf(other.policy) &&
    tenantOf(one.client) === tenantOf(other.client)
  );
}

/** Running, or between two attempts. */
function isHolder({ state, attempt, isRedriven }: OrderedJob): boolean {
  return state === 'running' || (state === 'queued' && attempt > 0 && !isRedriven);
}

function tenantOf(client: string): string {
  return client.includes('/') ? client.slice(0, client.lastIndexOf('/')) : client;
}
