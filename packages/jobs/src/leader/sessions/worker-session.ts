import { matchesSubject, subjectTokenOf } from '@troupe/transport';
import type { Ring } from '../../collections/ring.js';
import type { WorkerLiveness } from '../../protocol/client/admin-messages.js';
import type { PeerPort } from '../../protocol/leader-interface.js';
import { BATCH_JOBS_MAX, RunTimeEstimate } from '../../protocol/worker/run-time-estimate.js';
import type {
  Assignment,
  AttemptAbort,
  AttemptEnd,
  AttemptRange,
  AttemptRef,
  RunnerUse,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from '../../protocol/worker/worker-messages.js';
import type { ExecQueue, QueueName } from '../dispatch/exec-queue.js';
import type { Lease } from '../dispatch/lease.js';
import type { HeartbeatSession } from './heartbeat-session.js';
import { SessionRunner } from './session-runner.js';

export type WorkerPort = Pick<PeerPort<ToWorker>, 'access' | 'creditMax' | 'offer' | 'endSlowReader'>;

/** A worker with more answers to late ends does not read at all. Everything else is bounded by its credit. */
const STALE_MAX = 65_536;

/**
 * Acknowledgements that may wait for another message: more than a batch of short jobs, so that they leave
 * with the next one.
 */
const ACKNOWLEDGED_HELD_MAX = 2 * BATCH_JOBS_MAX;
/** The results of these attempts together: a worker keeps each until it is acknowledged. */
const ACKNOWLEDGED_HELD_BYTES_MAX = 32 * 1024;

type OpenRange = { -readonly [Field in keyof AttemptRange]: AttemptRange[Field] };

/**
 * One connection of one worker: its credit, its leases, its outgoing messages. Credit is two totals (ADR
 * 0403): all that the worker has granted, and all that the leader has spent of it.
 */
export class WorkerSession {
  readonly kind = 'worker';
  readonly worker: string;
  /** Worker and incarnation, as in the records. */
  readonly name: string;
  readonly slots: number;
  readonly leases: Lease[] = [];
  /** Jobs assigned to it that are not in the ledger yet, and so have no lease. */
  uncommitted = 0;
  granted: number;
  grantedBytes: number;
  spent = 0;
  spentBytes = 0;
  /** Attempts whose end it has reported. */
  private returned = 0;
  private readonly runTimeEstimate = new RunTimeEstimate();
  cpu = 0;
  lagMs = 0;
  /** Handlers that it reported as running although their attempt has ended. */
  reportedOverrun = 0;
  draining = false;
  /** An operator has made it quiet, or stops it. */
  isQuiet = false;
  /** Slices of a long report, and the messages behind it. */
  sliced: Ring<WorkerMessage> | undefined = undefined;
  /** Lease time of the last message from its event loop. */
  lastReceivedAt: number;
  /** Lease time when the last of its connections was lost. */
  closedAt: number | undefined = undefined;
  /** The token that its heartbeat connection must present; empty for a worker without one. */
  readonly heartbeatToken: string;
  heartbeat: HeartbeatSession | undefined = undefined;
  /** As of the last check. */
  liveness: WorkerLiveness = 'alive';
  /** The process is known to have ended: there is no grace period. */
  isGone = false;
  /** A placeholder: its leases come from before the leader's restart. */
  fromBeforeRestart = false;
  /** In the leader's list of sessions with messages to write. */
  dirty = false;
  /** Its latest message had no room. */
  isFull = false;
  private isAnswering = false;
  /** Its index among the sessions with credit, or -1. */
  creditIndex = -1;
  private readonly creditMax: number;
  /** By `group/exec`; one runner may serve several. */
  private readonly runners = new Map<string, SessionRunner>();
  private readonly port: WorkerPort;
  private readonly execs: ReadonlySet<string>;
  private readonly features: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
  private readonly patterns: readonly string[];
  /** Weak, because queues come and go. */
  private readonly servedQueues = new WeakMap<ExecQueue, boolean>();
  // Undefined while empty: an empty array that is kept between turns is promoted to the old generation, and
  // its contents then live until the whole heap is collected.
  private assignments: Assignment[] | undefined = undefined;
  /** Short jobs are assigned and end in batches: mostly this is one range. */
  private acknowledged: OpenRange[] | undefined = undefined;
  private acknowledgedCount = 0;
  private acknowledgedBytes = 0;
  private stale: AttemptRef[] | undefined = undefined;
  private aborts: AttemptAbort[] | undefined = undefined;
  private others: ToWorker[] | undefined = undefined;

  constructor(hello: WorkerHello, port: WorkerPort, now: number) {
    this.worker = hello.worker;
    this.name = workerName(hello.worker, hello.incarnation);
    this.slots = hello.slots;
    this.granted = hello.credit.jobs;
    this.grantedBytes = hello.credit.bytes;
    this.lastReceivedAt = now;
    this.heartbeatToken = hello.heartbeatToken ?? '';
    this.port = port;
    this.creditMax = port.creditMax ?? Number.POSITIVE_INFINITY;
    this.execs = new Set(hello.execs);
    this.features = new Set(hello.features);
    this.labels = new Set(hello.labels);
    this.patterns = hello.patterns;
    for (const offer of hello.runners ?? []) {
      const runner = new SessionRunner(offer);
      for (const exec of offer.execs) this.runners.set(exec, runner);
    }
  }

  get open(): boolean {
    return this.closedAt === undefined;
  }

  /** Lease time of the last sign of life of its process, from either thread. */
  get aliveAt(): number {
    return Math.max(this.lastReceivedAt, this.heartbeat?.lastReceivedAt ?? 0);
  }

  /**
   * A worker that is not alive gets no jobs, nor does one with overrunning handlers in all its slots. Credit
   * beyond its slots, granted while its attempts were short, is not used once they are long: jobs would wait
   * there, and come back (ADR 0410).
   */
  get credit(): number {
    if (!this.open || this.draining || this.isQuiet || this.liveness !== 'alive') return 0;
    if (this.reportedOverrun >= this.slots) return 0;
    const atWorker = this.spent - this.returned;
    const atOnceMax = Math.min(this.slots + this.runTimeEstimate.batchSize, this.creditMax);
    return Math.max(0, Math.min(this.granted - this.spent, atOnceMax - atWorker));
  }

  /**
   * A report: these attempts have ended, and those without a stream ran for `runMs` together where the worker
   * reports that.
   */
  attemptsEnded(ends: readonly AttemptEnd[], runMs: number | undefined): void {
    this.returned += ends.length;
    if (runMs === undefined) return;
    let streams = 0;
    for (const { chunks } of ends) if (chunks !== undefined) streams += 1;
    this.runTimeEstimate.add(ends.length - streams, runMs);
  }

  /** One of its slots is free: a job that does not wait in its queue may go there. */
  get hasFreeSlot(): boolean {
    return this.spent - this.returned < this.slots;
  }

  /** The jobs it may get before another worker is chosen. */
  get batchSize(): number {
    return Math.max(1, this.runTimeEstimate.batchSize);
  }

  /**
   * Handlers that run, or may run, although their attempt has ended here: reported ones, and attempts that it
   * has not ended since they were taken from it. The second are all that is known of a blocked worker.
   */
  get overrun(): number {
    const unreturned = this.spent - this.returned - this.jobsInHand;
    return Math.max(this.reportedOverrun, unreturned);
  }

  private get jobsInHand(): number {
    return this.leases.length + this.uncommitted;
  }

  /** It has no attempt. */
  get isIdle(): boolean {
    return this.jobsInHand === 0;
  }

  /** Whether it could take a job of this queue and size, beside its credit. */
  takes(queue: ExecQueue, bytes: number): boolean {
    return this.serves(queue) && this.fits(bytes) && (this.runners.size === 0 || this.hasRunner(queue));
  }

  /** The same without a queue, for one that looks. */
  hasRoomFor(job: QueueName, bytes: number): boolean {
    return this.fits(bytes) && (this.runnerOf(job)?.isFree ?? true);
  }

  /** Credit is spent for a job of this queue and size. */
  spend(queue: ExecQueue, bytes: number): void {
    this.spent += 1;
    this.spentBytes += bytes;
    if (this.runners.size === 0) return;
    const runner = this.runnerOf(queue);
    if (runner !== undefined) runner.spent += 1;
  }

  /** It comes back: the worker has not used it, and will not. */
  unspend(job: QueueName, bytes: number): void {
    this.spent -= 1;
    this.spentBytes -= bytes;
    const runner = this.runnerOf(job);
    if (runner !== undefined) runner.spent -= 1;
  }

  /** The warm runner of the jobs of a queue. */
  runnerOf({ group, exec }: QueueName): SessionRunner | undefined {
    return this.runners.get(`${group}/${exec}`);
  }

  /** Warm runners, as of their latest report. */
  get runnerUses(): readonly RunnerUse[] {
    return Array.from(new Set(this.runners.values()), ({ use }) => use);
  }

  /** False: a total that no worker grants. */
  runnersReported(uses: readonly RunnerUse[]): boolean {
    const known = new Map(Array.from(this.runners.values(), (runner) => [runner.use.runner, runner]));
    return uses.every((use) => known.get(use.runner)?.reported(use) ?? true);
  }

  private hasRunner(queue: ExecQueue): boolean {
    return this.runnerOf(queue)?.isFree ?? true;
  }

  /** A job larger than the whole allowance still runs, alone. */
  private fits(bytes: number): boolean {
    return bytes <= this.grantedBytes - this.spentBytes || this.jobsInHand === 0;
  }

  /** Whether it gets jobs of this queue when it has credit. */
  couldTake(queue: ExecQueue): boolean {
    return this.open && !this.draining && !this.isQuiet && this.serves(queue);
  }

  private serves(queue: ExecQueue): boolean {
    let serves = this.servedQueues.get(queue);
    if (serves === undefined) {
      serves = this.servesJob(queue);
      this.servedQueues.set(queue, serves);
    }
    return serves;
  }

  /** The same without a queue, and each time anew. */
  servesJob(job: QueueName): boolean {
    const { feature, requires = [] } = job;
    return (
      (feature === undefined || this.features.has(feature)) &&
      requires.every((label) => this.labels.has(label)) &&
      this.servesExec(job)
    );
  }

  /** Whether it has code for the exec, and a rule that lets it. */
  servesExec({ exec, group }: QueueName): boolean {
    const subject = `job.assign.${group}.${subjectTokenOf(this.worker)}`;
    // A worker that names the group of an exec has code for that group alone; otherwise rules about groups
    // would be void.
    return (
      (this.execs.has(`${group}/${exec}`) || this.execs.has(exec)) &&
      this.patterns.some((pattern) => matchesSubject(pattern, subject)) &&
      (this.port.access?.permits('work', subject) ?? true)
    );
  }

  /** Smaller is better: the share of slots in use, the processor, the lag of its event loop. */
  get loadScore(): number {
    return this.jobsInHand / this.slots + this.cpu + Math.min(this.lagMs, 1_000) / 1_000;
  }

  addLease(lease: Lease): void {
    lease.session = this;
    lease.index = this.leases.length;
    this.leases.push(lease);
  }

  removeLease(lease: Lease): void {
    const last = this.leases.pop() as Lease;
    if (last === lease) return;
    this.leases[lease.index] = last;
    last.index = lease.index;
  }

  assign(assignment: Assignment): void {
    this.assignments ??= [];
    this.assignments.push(assignment);
  }

  /** `resultBytes`: kept by the worker until this arrives. */
  acknowledge(job: number, attempt: number, resultBytes: number): void {
    this.acknowledged ??= [];
    const last = this.acknowledged.at(-1);
    if (last?.attempt === attempt && last.job + last.count === job) last.count += 1;
    else this.acknowledged.push({ job, attempt, count: 1 });
    this.acknowledgedCount += 1;
    this.acknowledgedBytes += resultBytes;
  }

  /** A reported end came too late. */
  answerStale(job: number, attempt: number): void {
    this.stale ??= [];
    this.stale.push({ job, attempt });
    if (this.stale.length > STALE_MAX) this.port.endSlowReader?.();
  }

  abort(job: number, attempt: number, reason: AttemptAbort['reason'], detail: string): void {
    this.aborts ??= [];
    this.aborts.push({ job, attempt, reason, detail });
  }

  add(message: ToWorker): void {
    this.others ??= [];
    this.others.push(message);
  }

  /** One answer for all heartbeats that came meanwhile. */
  answerHeartbeat(): void {
    if (this.isAnswering) return;
    this.isAnswering = true;
    this.add({ kind: 'heartbeat' });
  }

  /**
   * Acknowledgements are piggybacked on the next assignment, or on the answer to the next heartbeat (ADR
   * 0116).
   */
  private get mayHoldAcknowledged(): boolean {
    const { acknowledgedCount, acknowledgedBytes, draining } = this;
    return (
      !draining &&
      acknowledgedCount < ACKNOWLEDGED_HELD_MAX &&
      acknowledgedBytes < ACKNOWLEDGED_HELD_BYTES_MAX
    );
  }

  /** False: there is no room, and the rest is kept. Of a closed session only its refusal is left. */
  flush(): boolean {
    const { assignments, acknowledged, stale, aborts, others } = this;
    const onlyAcknowledged = (assignments ?? stale ?? aborts ?? others) === undefined;
    if (onlyAcknowledged && this.mayHoldAcknowledged) return true;
    if (!this.flushOthers()) return false;
    if (!this.open) return true;
    if (acknowledged !== undefined) {
      this.acknowledged = undefined;
      if (!this.write({ kind: 'acknowledged', items: acknowledged })) {
        this.acknowledged = acknowledged;
        return false;
      }
      this.acknowledgedCount = 0;
      this.acknowledgedBytes = 0;
    }
    if (stale !== undefined) {
      this.stale = undefined;
      if (!this.write({ kind: 'stale', items: stale })) {
        this.stale = stale;
        return false;
      }
    }
    if (aborts !== undefined) {
      this.aborts = undefined;
      if (!this.write({ kind: 'abort', items: aborts })) {
        this.aborts = aborts;
        return false;
      }
    }
    if (assignments !== undefined) {
      this.assignments = undefined;
      if (!this.write({ kind: 'assign', items: assignments })) {
        this.assignments = assignments;
        return false;
      }
    }
    return true;
  }

  private write(message: ToWorker): boolean {
    return this.port.offer(message) !== 'full';
  }

  private flushOthers(): boolean {
    const { others } = this;
    if (others === undefined) return true;
    this.others = undefined;
    const taken = others.findIndex((message) => !this.write(message));
    this.others = taken < 0 ? undefined : others.slice(taken);
    this.isAnswering = this.others?.some(({ kind }) => kind === 'heartbeat') === true;
    return taken < 0;
  }
}

export function workerName(worker: string, incarnation: string): string {
  return `${worker}~${incarnation}`;
}
