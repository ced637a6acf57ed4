import { matchesSubject } from '@troupe/transport';
import type { Liveness } from '../../protocol/client-messages.js';
import type { PeerAccess } from '../../protocol/leader-interface.js';
import { BATCH_JOBS_MAX, RunTimeEstimate } from '../../protocol/run-time-estimate.js';
import type {
  Assignment,
  AttemptRange,
  AttemptRef,
  ToWorker,
  WorkerHello,
} from '../../protocol/worker-messages.js';
import type { ExecQueue } from '../dispatch/client-lane.js';
import type { Lease } from '../dispatch/lease.js';
import type { HeartbeatSession } from './heartbeat-session.js';

export interface WorkerPort {
  readonly access?: PeerAccess | undefined;
  write(message: ToWorker): void;
}

/** Settlements that may wait for something else to say: more than a whole row of short jobs, so that theirs ride with the next row. */
const SETTLED_HELD_MAX = 2 * BATCH_JOBS_MAX;
/** What their results may have together: a worker keeps each until it is settled. */
const SETTLED_HELD_BYTES_MAX = 32 * 1024;

type Settled = { -readonly [Field in keyof AttemptRange]: AttemptRange[Field] };
type Abort = AttemptRef & { readonly reason: 'cancelled' | 'fenced' };

/**
 * One connection of one worker: its credit, its leases, what it is to be told. Credit is two totals on each side (ADR
 * 0052): what the worker has granted, and what the leader has spent of it.
 */
export class WorkerSession {
  readonly kind = 'worker';
  readonly worker: string;
  /** Worker and incarnation: what the records name. */
  readonly name: string;
  readonly slots: number;
  readonly leases: Lease[] = [];
  /** Jobs it was chosen for that are not in the ledger yet, and so have no lease. */
  expected = 0;
  granted: number;
  grantedBytes: number;
  spent = 0;
  spentBytes = 0;
  /** Attempts it has reported the end of. */
  private returned = 0;
  private readonly runTimeEstimate = new RunTimeEstimate();
  cpu = 0;
  lagMs = 0;
  quiet = false;
  /** When its event loop last spoke, in the leader's own time, which does not count its stalls. */
  heardAt: number;
  /** When the last of its connections was lost. */
  closedAt: number | undefined = undefined;
  /** What its heartbeat must show; empty for a worker that has none. */
  readonly heartbeatToken: string;
  heartbeat: HeartbeatSession | undefined = undefined;
  /** As last noticed. */
  liveness: Liveness = 'alive';
  /** The worker is known to be gone for good: no grace. */
  forsaken = false;
  /** Its leases come from before the leader's restart. */
  inDoubt = false;
  dirty = false;
  /** Its place among the sessions with credit. */
  openIndex = -1;
  private readonly port: WorkerPort;
  private readonly execs: ReadonlySet<string>;
  private readonly patterns: readonly string[];
  /** Queues come and go; this must not keep them. */
  private readonly served = new WeakMap<ExecQueue, boolean>();
  // Undefined while there is nothing to say. A list that waits empty grows old, and what an old list was given lives until the whole heap
  // is collected, however soon the list is dropped (ADR 0144).
  private assigns: Assignment[] | undefined = undefined;
  /** Short jobs come and end in a row: most of the time this is one run. */
  private settled: Settled[] | undefined = undefined;
  private settledCount = 0;
  private settledBytes = 0;
  private aborts: Abort[] | undefined = undefined;
  private rest: ToWorker[] | undefined = undefined;

  constructor(hello: WorkerHello, port: WorkerPort, now: number) {
    this.worker = hello.worker;
    this.name = workerName(hello.worker, hello.incarnation);
    this.slots = hello.slots;
    this.granted = hello.credit.jobs;
    this.grantedBytes = hello.credit.bytes;
    this.heardAt = now;
    this.heartbeatToken = hello.heartbeatToken ?? '';
    this.port = port;
    this.execs = new Set(hello.execs);
    this.patterns = hello.patterns;
  }

  get open(): boolean {
    return this.closedAt === undefined;
  }

  /** The last sign of life of its process, whichever thread gave it. */
  get aliveAt(): number {
    return Math.max(this.heardAt, this.heartbeat?.heardAt ?? 0);
  }

  /**
   * Who does not listen gets nothing to do. What a worker granted beyond its slots while its attempts were short is not used once they are
   * long: jobs would wait there, and come back (ADR 0138).
   */
  get credit(): number {
    if (!this.open || this.quiet || this.liveness !== 'alive') return 0;
    const itHas = this.spent - this.returned;
    return Math.max(
      0,
      Math.min(this.granted - this.spent, this.slots + this.runTimeEstimate.batchSize - itHas),
    );
  }

  /** A report: so many attempts ended, and ran for so long together, if it says so. */
  ended(attempts: number, runMs: number | undefined): void {
    this.returned += attempts;
    if (runMs !== undefined) this.runTimeEstimate.add(attempts, runMs);
  }

  /** How many jobs it may get one behind the other before the next choice. */
  get batchSize(): number {
    return Math.max(1, this.runTimeEstimate.batchSize);
  }

  get inHand(): number {
    return this.leases.length + this.expected;
  }

  /** A job larger than the whole allowance still runs, alone. */
  fits(bytes: number): boolean {
    return bytes <= this.grantedBytes - this.spentBytes || this.inHand === 0;
  }

  serves(queue: ExecQueue): boolean {
    let serves = this.served.get(queue);
    if (serves === undefined) {
      const { exec, group } = queue;
      // In a subject a worker is one token, whatever its name: patterns and rules see the same.
      const subject = `job.assign.${group}.${this.worker.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
      // A worker that names the group of an exec has code for that group alone; rules about groups would mean nothing otherwise.
      serves = this.execs.has(`${group}/${exec}`) || this.execs.has(exec);
      serves &&= this.patterns.some((pattern) => matchesSubject(pattern, subject));
      serves &&= this.port.access?.permits('work', subject) ?? true;
      this.served.set(queue, serves);
    }
    return serves;
  }

  /** Smaller is better: the share of slots in use, the processor, a late event loop. */
  get score(): number {
    return this.inHand / this.slots + this.cpu + Math.min(this.lagMs, 1_000) / 1_000;
  }

  hold(lease: Lease): void {
    lease.session = this;
    lease.index = this.leases.length;
    this.leases.push(lease);
  }

  letGo(lease: Lease): void {
    const last = this.leases.pop() as Lease;
    if (last === lease) return;
    this.leases[lease.index] = last;
    last.index = lease.index;
  }

  assign(assignment: Assignment): void {
    this.assigns ??= [];
    this.assigns.push(assignment);
  }

  /** `resultBytes`: what the worker keeps for it until it hears of this. */
  settle(job: number, attempt: number, resultBytes: number): void {
    this.settled ??= [];
    const last = this.settled.at(-1);
    if (last?.attempt === attempt && last.job + last.count === job) last.count += 1;
    else this.settled.push({ job, attempt, count: 1 });
    this.settledCount += 1;
    this.settledBytes += resultBytes;
  }

  abort(job: number, attempt: number, reason: Abort['reason']): void {
    this.aborts ??= [];
    this.aborts.push({ job, attempt, reason });
  }

  say(message: ToWorker): void {
    this.rest ??= [];
    this.rest.push(message);
  }

  /** Nobody waits for a settlement: it rides with the next assignment, or with the answer to the next beat (ADR 0116). */
  private get maySettleLater(): boolean {
    const { settledCount, settledBytes, quiet } = this;
    return !quiet && settledCount < SETTLED_HELD_MAX && settledBytes < SETTLED_HELD_BYTES_MAX;
  }

  flush(): void {
    this.dirty = false;
    if (!this.open) return;
    const { assigns, settled, aborts, rest } = this;
    const hasNews = (assigns ?? aborts ?? rest) !== undefined;
    if (!hasNews && this.maySettleLater) return;
    if (rest !== undefined) {
      this.rest = undefined;
      for (const message of rest) this.port.write(message);
    }
    if (settled !== undefined) {
      this.settled = undefined;
      this.settledCount = 0;
      this.settledBytes = 0;
      this.port.write({ kind: 'acknowledged', items: settled });
    }
    if (aborts !== undefined) {
      this.aborts = undefined;
      this.port.write({ kind: 'abort', items: aborts });
    }
    if (assigns !== undefined) {
      this.assigns = undefined;
      this.port.write({ kind: 'assign', items: assigns });
    }
  }
}

export function workerName(worker: string, incarnation: string): string {
  return `${worker}~${incarnation}`;
}
