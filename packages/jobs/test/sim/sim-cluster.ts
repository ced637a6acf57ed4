import { type ActorRef, nodeHost } from '@troupe/core';
import {
  type AttemptContext,
  type Client,
  defineJob,
  handle,
  NonRetryableError,
  type OpenJournal,
  walJournal,
} from '@troupe/jobs';
import { inlineSnapshotBuilder, type WalHost } from '@troupe/wal';
import { FaultyStorage } from '@troupe/wal/testing';
import { type ClientActor, spawnClient } from '#src/client/client-actor.js';
import { parseJobId } from '#src/job/job-id.js';
import { LeaderActor } from '#src/leader/leader-actor.js';
import type { LeaderLimits } from '#src/leader/leader-limits.js';
import { Ledger } from '#src/ledger/ledger.js';
import { ledgerFold } from '#src/ledger/ledger-fold.js';
import { decodeRecords } from '#src/ledger/record-codec.js';
import { encodeSnapshot, loadChunk } from '#src/ledger/snapshot-codec.js';
import type { ToWorker } from '#src/protocol/worker-messages.js';
import { WorkerActor } from '#src/worker/worker-actor.js';
import { aString } from '../plain-schema.js';
import { type MakeStorage, SimDisk } from './sim-disk.js';
import { expected, SimHistory, type SubmitOp, verdicts } from './sim-history.js';
import { SimNet } from './sim-net.js';
import { SimRecords } from './sim-records.js';
import { type SimNode, SimWorld } from './sim-world.js';

const retry = { attempts: 4, baseMs: 20, capMs: 200, crashes: 3 };

interface Keep {
  readonly doneMs?: number;
  readonly deadMs?: number;
}

function jobsOf(group: string, keep: Keep) {
  const base = { input: aString, output: aString, leaseMs: 400, limits: { runMs: 1_500 }, retry };
  const common = { ...base, group, keep };
  return {
    quick: defineJob('sim.quick', common),
    slow: defineJob('sim.slow', common),
    flaky: defineJob('sim.flaky', common),
    doomed: defineJob('sim.doomed', common),
    final: defineJob('sim.final', common),
    poison: defineJob('sim.poison', common),
    hung: defineJob('sim.hung', { ...common, limits: { runMs: 300 }, retry: { ...retry, attempts: 2 } }),
  };
}
type Jobs = ReturnType<typeof jobsOf>;
type Kind = keyof Jobs;
const KINDS: readonly Kind[] = [
  'quick',
  'quick',
  'quick',
  'slow',
  'slow',
  'flaky',
  'doomed',
  'final',
  'poison',
  'hung',
];

const WORKERS = 3;
const CLIENTS = 2;
const FAULTS_MS = 4_000;
const HEAL_MS = 60_000;
const times = { tickMs: 20, heartbeatMs: 50, resumeGraceMs: 100, reclaimMs: 400, runGraceMs: 150 };

interface Probe {
  readonly ledger: Ledger;
  readonly staging: { readonly isIdle: boolean };
}

/** What one seed does: which faults, how often. About half of the classes are off in any one run. */
interface Weather {
  readonly leaderCrash: number;
  readonly workerCrash: number;
  readonly clientCrash: number;
  readonly pause: number;
  readonly cutAll: number;
  readonly cutMessage: number;
  readonly diskMs: number;
  readonly snapshotEveryBytes: number;
  readonly submits: number;
  /** How often the leader's wall clock is set. */
  readonly clockSteps: number;
  /** How often an operator drives dead letters again, or removes them. */
  readonly treatments: number;
  readonly limits: Partial<LeaderLimits>;
  readonly keep: Keep;
  /** How often a call of the leader's disk goes wrong, how often it is full for a while, how often something rots on it. */
  readonly diskErrors: number;
  readonly diskFull: number;
  readonly rot: number;
  /** The last worker has code for another group than the others, and jobs of both are submitted. */
  readonly twoGroups: boolean;
}

/** Off by a second, an hour, ten years. */
const CLOCK_STEPS_MS = [1_000, 3_600_000, 3_650 * 24 * 3_600_000].flatMap((ms) => [ms, -ms]);
const KEY_WINDOW_MS = 24 * 3_600_000;

export interface SimReport {
  readonly seed: number;
  readonly problems: readonly string[];
  readonly trace: number;
  readonly events: number;
  readonly acknowledged: number;
  readonly leaderCrashes: number;
  readonly snapshots: number;
  readonly cuts: number;
  readonly diskErrors: number;
  /** Starts that were refused, and ends of a leader by its own hand. */
  readonly refusals: number;
  readonly exits: number;
}

/** What the leader's process is like, for planted bugs. */
export interface SimMachine {
  readonly storage?: MakeStorage;
  /** It goes on when its log has failed. */
  readonly livesOn?: boolean;
}

/** Leader, three workers, two clients, their network and the leader's disk, under one seed. */
export class SimCluster {
  private readonly world: SimWorld;
  private readonly history = new SimHistory();
  private readonly leaderNode: SimNode;
  private readonly workerNodes: SimNode[] = [];
  private readonly clientNodes: SimNode[] = [];
  private readonly net: SimNet;
  private readonly random: () => number;
  private readonly weather: Weather;
  private readonly records: SimRecords;
  private readonly jobs: { readonly main: Jobs; readonly side: Jobs };
  private readonly open = new Set<SubmitOp>();
  private readonly machine: SimMachine;
  private readonly disk: SimDisk;
  private leaderRef: ActorRef<typeof LeaderActor> | undefined;
  private leaderCrashes = 0;
  private snapshots = 0;
  private refusals = 0;
  private exits = 0;
  private faulty = true;
  private submitted = 0;

  constructor(seed: number, machine: SimMachine = {}) {
    this.machine = machine;
    this.world = new SimWorld(seed);
    this.random = this.world.stream('plan');
    this.weather = this.drawWeather();
    const { limits, keep } = this.weather;
    const { keyWindowMs = KEY_WINDOW_MS, clientRunningMax = Number.POSITIVE_INFINITY } = limits;
    this.records = new SimRecords({ keyWindowMs, clientRunningMax }, () => this.world.now);
    this.jobs = { main: jobsOf('main', keep), side: jobsOf('side', keep) };
    const { storage = (options) => new FaultyStorage(options) } = machine;
    this.disk = new SimDisk(this.world, storage, this.weather.diskMs);
    this.leaderNode = this.world.node('leader');
    const faults = { cut: this.weather.cutMessage, delayMs: 1 + this.random() * 10 };
    this.net = new SimNet(this.world, this.leaderNode, faults, (message) => this.sent(message as ToWorker));
  }

  async run(): Promise<SimReport> {
    this.startLeader();
    for (let i = 0; i < WORKERS; i += 1) {
      const node = this.world.node(`worker${i}`);
      this.workerNodes.push(node);
      this.startWorker(node);
    }
    for (let i = 0; i < CLIENTS; i += 1) {
      const node = this.world.node(`client${i}`);
      this.clientNodes.push(node);
      this.startClient(node, node.name);
    }
    this.planFaults();
    await this.world.run(FAULTS_MS);
    this.heal();
    await this.world.run(FAULTS_MS + HEAL_MS, () => this.open.size === 0);
    await this.check();
    return {
      seed: this.world.seed,
      problems: this.world.problems,
      trace: this.world.trace,
      events: this.world.events,
      acknowledged: this.history.submits.filter((op) => op.outcome === 'ok').length,
      leaderCrashes: this.leaderCrashes,
      snapshots: this.snapshots,
      cuts: this.net.cuts,
      diskErrors: this.disk.errors,
      refusals: this.refusals,
      exits: this.exits,
    };
  }

  private sent(message: ToWorker): void {
    if (message.kind !== 'assign') return;
    for (const { job, attempt } of message.items) this.history.handedOut(job, attempt, this.world.now);
  }

  private drawWeather(): Weather {
    const maybe = (most: number): number => (this.random() < 0.5 ? 0 : this.random() * most);
    const disk = this.world.stream('disk weather');
    const often = (most: number): number => (disk() < 0.6 ? 0 : disk() * most);
    return {
      leaderCrash: maybe(4),
      workerCrash: maybe(4),
      clientCrash: maybe(1),
      pause: maybe(4),
      cutAll: maybe(5),
      cutMessage: maybe(0.02),
      diskMs: 0.2 + this.random() * 6,
      snapshotEveryBytes: this.random() < 0.5 ? 0 : 100_000,
      submits: 10 + Math.floor(this.random() * 30),
      clockSteps: maybe(4),
      treatments: maybe(8),
      limits: this.drawLimits(),
      keep: this.drawKeep(),
      twoGroups: this.random() < 0.5,
      diskErrors: often(6),
      diskFull: often(2),
      rot: often(3),
    };
  }

  private drawLimits(): Partial<LeaderLimits> {
    const upTo = (most: number): number => Math.floor(this.random() * most);
    return {
      ...(this.random() < 0.3 ? { resultsMax: upTo(12) } : {}),
      ...(this.random() < 0.2 ? { resultsBytesMax: upTo(400) } : {}),
      ...(this.random() < 0.3 ? { clientRunningMax: 1 + upTo(4) } : {}),
      ...(this.random() < 0.2 ? { keyWindowMs: 500 + upTo(3_000) } : {}),
      ...(this.random() < 0.2 ? { jobsMax: 5 + upTo(20) } : {}),
      ...(this.random() < 0.2 ? { deadMax: 1 + upTo(10) } : {}),
    };
  }

  private drawKeep(): Keep {
    return {
      ...(this.random() < 0.3 ? { doneMs: Math.floor(this.random() * 1_000) } : {}),
      ...(this.random() < 0.3 ? { deadMs: Math.floor(this.random() * 1_000) } : {}),
    };
  }

  /** Whether ended jobs may be gone before the run is over. */
  private get forgets(): boolean {
    const { limits, keep, clockSteps } = this.weather;
    const { resultsMax, resultsBytesMax } = limits;
    const { doneMs, deadMs } = keep;
    return (
      clockSteps > 0 || [resultsMax, resultsBytesMax, doneMs, deadMs].some((value) => value !== undefined)
    );
  }

  private startLeader(): void {
    const host = this.leaderNode.boot();
    const node = this.leaderNode;
    const storage = this.disk.open(node);
    const walHost = {
      now: () => host.now(),
      wallNow: () => host.wallNow(),
      random: () => host.random(),
      setTimer: (ms: number, run: () => void) => host.setTimer(ms, run),
      clearTimer: (timer: unknown) => (timer as { cancel(): void } | undefined)?.cancel(),
      defer: (run: () => void) => host.soon(run),
      exit: (code: number) => this.leaderExits(`the log wants to exit with ${code}`),
    };
    this.leaderRef = node.system.spawn(LeaderActor, {
      host,
      times,
      limits: this.weather.limits,
      openJournal: this.started(this.records.watch(this.journalOn(storage, walHost))),
      onFatal: (error) => this.leaderExits(error.message),
    });
    this.net.leaderUp(this.leaderRef);
  }

  private crashLeader(downMs: number): void {
    if (!this.leaderNode.alive) return;
    this.leaderCrashes += 1;
    this.leaderNode.crash();
    this.net.leaderDown();
    this.disk.cutPower(this.random);
    this.world.at(this.world.now + downMs, undefined, () => this.startLeader());
  }

  /** D6: a leader whose disk has failed it ends at once, and no other does. */
  private leaderExits(why: string): void {
    if (!this.leaderNode.alive || this.machine.livesOn === true) return;
    if (!this.disk.isExcused) return this.world.problem(`leader: ${why}`);
    this.exits += 1;
    this.leaderEnds();
  }

  private leaderEnds(): void {
    this.leaderCrashes += 1;
    this.leaderNode.crash();
    this.net.leaderDown();
    this.disk.leave();
    this.world.at(this.world.now + 200, undefined, () => this.startLeader());
  }

  /** I14: a start is refused only where the disk is to blame. */
  private started(open: OpenJournal): OpenJournal {
    return (reader, done) =>
      open(reader, (error, journal) => {
        if (!this.leaderNode.alive) return;
        if (journal !== undefined) {
          this.disk.started();
          return done(null, journal);
        }
        if (!this.disk.isExcused)
          return this.world.problem(`a leader does not start: ${error?.message ?? 'no reason'}`);
        this.refusals += 1;
        this.disk.repair();
        this.leaderEnds();
      });
  }

  private startWorker(node: SimNode): void {
    const host = node.boot();
    const { life } = node;
    const peer = {
      node,
      life,
      lost: () => ref.tell.lost(),
      reconnect: () => ref.tell.reconnect(),
    };
    const isSide = this.weather.twoGroups && node === this.workerNodes[WORKERS - 1];
    const jobs = isSide ? this.jobs.side : this.jobs.main;
    const run = (kind: Kind) => (input: string, context: AttemptContext) =>
      this.handle(kind, input, context, node, jobs[kind].policy.group);
    const slots = 1 + Math.floor(this.random() * 4);
    const ref: ActorRef<typeof WorkerActor> = node.system.spawn(WorkerActor, {
      // Some come back under another name, as a replaced machine would: nobody then says that the old one is gone.
      worker: this.random() < 0.3 ? `${node.name}.${life}` : node.name,
      host,
      leader: this.net.face(peer),
      load: { cpu: () => 0, lagMs: () => 0 },
      settings: { slots, bytesMax: 1_000, cpuCap: 1, withholdMsMax: 0, patterns: ['job.assign.>'] },
      handlers: (Object.keys(jobs) as Kind[]).map((kind) => handle(jobs[kind], run(kind))),
    });
  }

  private crashWorker(node: SimNode, downMs: number): void {
    if (!node.alive) return;
    node.crash();
    this.net.peerDown(node);
    this.world.at(this.world.now + downMs, undefined, () => this.startWorker(node));
  }

  private handle(
    kind: Kind,
    input: string,
    context: AttemptContext,
    node: SimNode,
    group: string,
  ): string | Promise<string> {
    const job = Number.parseInt(context.jobId.split('-')[1] ?? '', 36);
    this.history.ran(job, { attempt: context.attempt, worker: node.name, group, at: this.world.now });
    const output = expected({ payload: input }, context.attempt);
    switch (kind) {
      case 'quick':
        return output;
      case 'slow':
        return this.sleep(node, this.random() * 250, output);
      case 'flaky':
        if (this.random() < 0.5) throw new Error('bad luck');
        return output;
      case 'doomed':
        throw new Error('never works');
      case 'final':
        throw new NonRetryableError('do not try again');
      case 'poison': {
        const { life } = node;
        this.world.at(this.world.now + 5, node, () => {
          if (node.life === life) this.crashWorker(node, 50);
        });
        return this.sleep(node, 10_000, output);
      }
      case 'hung':
        return new Promise(() => undefined);
      default:
        return kind satisfies never;
    }
  }

  private sleep(node: SimNode, ms: number, output: string): Promise<string> {
    return new Promise((resolve) => {
      this.world.at(this.world.now + ms, node, () => resolve(output));
    });
  }

  private startClient(node: SimNode, name: string): void {
    const host = node.boot();
    const { life } = node;
    const peer = {
      node,
      life,
      lost: () => spawned.ref.tell.lost(),
      reconnect: () => spawned.ref.tell.reconnect(),
    };
    const spawned: { client: Client; ref: ActorRef<typeof ClientActor> } = spawnClient(
      (definition, ...rest) => node.system.spawn(definition, ...rest),
      { name, host, leader: this.net.face(peer) },
    );
    const submits = this.faulty ? this.weather.submits : 0;
    for (let i = 0; i < submits; i += 1) {
      const at = this.world.now + this.random() * Math.max(0, FAULTS_MS - this.world.now);
      this.world.at(at, node, () => void this.submit(spawned.client, node));
    }
    const treatments = this.faulty ? this.weather.treatments : 0;
    for (let i = 0; i < treatments; i += 1) {
      const at = this.world.now + this.random() * Math.max(0, FAULTS_MS - this.world.now);
      this.world.at(at, node, () => void this.treat(spawned.client));
    }
  }

  private crashClient(node: SimNode): void {
    node.crash();
    this.net.peerDown(node);
    // Its promises never settle; what it had not heard stays unknown.
    for (const op of this.open) if (op.client === node.name) this.open.delete(op);
    this.world.at(this.world.now + 100, undefined, () => this.startClient(node, node.name));
  }

  /** All or none: several jobs in one record, watched as one submit. */
  private async submitAll(client: Client, { name, life }: SimNode): Promise<void> {
    this.submitted += 1;
    const payload = `all ${this.submitted}`;
    const { quick } = this.jobs.main;
    const op = this.history.submit({
      client: name,
      exec: quick.exec,
      payload,
      key: '',
      askedAt: this.world.now,
      life,
    });
    this.open.add(op);
    try {
      const handles = await client.submitAll(quick, [payload, payload, payload]);
      this.history.taken(
        op,
        handles.map((one) => parseJobId(one.id.split('-')[0] ?? '', one.id)),
      );
      await Promise.all(handles.map((one) => one.result().catch((error) => this.unlessUnlucky(error))));
    } catch (error) {
      if (op.outcome === 'unknown') op.outcome = 'refused';
      else this.world.problem(`job ${op.jobs[0]}: ${String(error)}`);
    } finally {
      this.open.delete(op);
    }
  }

  /** A quick job does not fail by itself, but its worker may be lost under it as often as the policy allows. */
  private unlessUnlucky(error: unknown): void {
    if (this.forgets && codeOf(error) === 'ERR_JOB_UNKNOWN') return;
    const { reason } = error as { reason?: string };
    if (codeOf(error) !== 'ERR_JOB_FAILED' || (reason !== 'quarantined' && reason !== 'timed-out'))
      throw error;
  }

  private async submit(client: Client, node: SimNode): Promise<void> {
    if (this.random() < 0.05) return this.submitAll(client, node);
    const { name, life } = node;
    const kind = KINDS[Math.floor(this.random() * KINDS.length)] ?? 'quick';
    const keyed = this.random() < 0.25;
    const key = keyed ? `key${Math.floor(this.random() * 6)}` : '';
    this.submitted += 1;
    const payload = keyed ? `keyed ${kind} ${key}` : `${kind} ${this.submitted}`;
    const isSide = this.weather.twoGroups && this.random() < 0.4;
    const job = (isSide ? this.jobs.side : this.jobs.main)[kind];
    const delayMs = this.random() < 0.2 ? Math.floor(this.random() * 500) : 0;
    const askedAt = this.world.now;
    const op = this.history.submit({ client: name, life, exec: job.exec, payload, key, askedAt, delayMs });
    this.open.add(op);
    const delayed = delayMs === 0 ? {} : { runAfterMs: delayMs };
    const cancelAfter = this.random() < 0.15 ? this.random() * 300 : 0;
    try {
      const handle = await client.submit(job, payload, keyed ? { key, ...delayed } : delayed);
      this.history.taken(op, [parseJobId(handle.id.split('-')[0] ?? '', handle.id)]);
      if (cancelAfter > 0) this.cancelLater(op, handle, cancelAfter);
      await this.follow(op, handle);
    } catch (error) {
      if (op.outcome === 'unknown') op.outcome = 'refused';
      else this.world.problem(`job ${op.jobs[0]}: ${String(error)}`);
    } finally {
      this.open.delete(op);
    }
  }

  private cancelLater(op: SubmitOp, handle: { cancel(): Promise<string> }, ms: number): void {
    this.world.at(this.world.now + ms, undefined, () => {
      void handle.cancel().then(
        (state) => {
          if (state === 'cancelled') op.cancelAcked = this.world.now;
          for (const job of op.jobs) this.history.over(job, this.world.now);
        },
        (error: unknown) => {
          // It may have ended and gone meanwhile; whether it may is judged in the end.
          if (codeOf(error) === 'ERR_JOB_UNKNOWN') op.seen = op.seen === 'nothing' ? 'forgotten' : op.seen;
          else this.world.problem(`cancel of job ${op.jobs[0]}: ${String(error)}`);
        },
      );
    });
  }

  /** An operator looks at the dead letters and sends some back, or removes them. */
  private async treat(client: Client): Promise<void> {
    const askedAt = this.world.now;
    const dead = await client.deadLetters();
    for (const { job } of dead) {
      if ((this.records.lives.get(job)?.purgedAt ?? Number.POSITIVE_INFINITY) < askedAt)
        this.world.problem(`job ${job} is listed among the dead letters after it was purged`);
    }
    const some = dead.filter(() => this.random() < 0.6).map(({ job }) => client.idOf(job));
    if (some.length > 0) await (this.random() < 0.5 ? client.purge(some) : client.redrive(some));
  }

  private async follow(op: SubmitOp, handle: { result(): Promise<unknown> }): Promise<void> {
    try {
      op.result = await handle.result();
      op.seen = 'done';
    } catch (error) {
      const seen = SEEN[codeOf(error)];
      if (seen === undefined) throw error;
      op.seen = seen;
      if (seen === 'forgotten') return;
    }
    for (const job of op.jobs) this.history.over(job, this.world.now);
  }

  private planFaults(): void {
    const plan = (count: number, act: () => void): void => {
      for (let i = 0; i < count; i += 1) {
        this.world.at(this.random() * FAULTS_MS, undefined, () => {
          if (this.faulty) act();
        });
      }
    };
    const someWorker = (): SimNode => this.workerNodes[Math.floor(this.random() * WORKERS)] as SimNode;
    const { weather } = this;
    plan(weather.leaderCrash, () => this.crashLeader(10 + this.random() * 600));
    plan(weather.workerCrash, () => this.crashWorker(someWorker(), 10 + this.random() * 600));
    plan(weather.clientCrash, () =>
      this.crashClient(this.clientNodes[Math.floor(this.random() * CLIENTS)] as SimNode),
    );
    plan(weather.pause, () => this.pause(this.random() < 0.3 ? this.leaderNode : someWorker()));
    plan(weather.diskErrors, () => this.disk.arm());
    plan(weather.diskFull, () => this.disk.fill(20 + this.random() * 300));
    plan(weather.rot, () => {
      if (!this.leaderNode.alive) return;
      this.crashLeader(100);
      this.disk.rot();
    });
    plan(weather.cutAll, () => this.net.cutSome(0.5));
    plan(weather.clockSteps, () => {
      this.leaderNode.wallStepMs = CLOCK_STEPS_MS[Math.floor(this.random() * CLOCK_STEPS_MS.length)] ?? 0;
    });
  }

  private pause(node: SimNode): void {
    node.pausedUntil = Math.max(node.pausedUntil, this.world.now + this.random() * 900);
    // Nothing to do at that moment but to go on.
    this.world.at(node.pausedUntil, undefined, () => undefined);
  }

  private heal(): void {
    this.faulty = false;
    this.net.faults = { ...this.net.faults, cut: 0 };
    this.disk.heal();
  }

  /** After healing: everything answered, and the disk tells the same story as the memory. */
  private async check(): Promise<void> {
    const { world } = this;
    for (const op of this.open)
      world.problem(`a ${op.exec} of ${op.client} (${op.outcome}) was never answered`);
    if (world.problems.length > 0) return;
    // Let what is still in flight, or was driven again, come to its end, then read the live state.
    await world.run(world.now + 3_000);
    await world.run(world.now + HEAL_MS, () => isIdle(liveLeader(this.leaderRef)));
    const live = liveLeader(this.leaderRef)?.ledger;
    if (live === undefined) return world.problem('the leader is not up after healing');
    const leniency = { forgets: this.forgets, restarted: this.leaderCrashes > 0 };
    for (const verdict of verdicts(this.history, this.records, live, leniency)) world.problem(verdict);
    if (snapshotText(live) !== snapshotText(await this.replayed()))
      world.problem('the log replayed is not the live state');
  }

  /** Small segments and early snapshots, so that a short run meets rotation, snapshots and the removal of files. */
  private journalOn(storage: FaultyStorage, host: WalHost): OpenJournal {
    return walJournal({
      storage,
      host,
      segmentBytes: 65_536,
      firstSegmentBytes: 32_768,
      freeBytesSoft: 0,
      batchBytesMax: 32_768,
      inlineBytesMax: 16_384,
      snapshotBuilder: inlineSnapshotBuilder(storage, ledgerFold),
      snapshotEveryBytes: this.weather.snapshotEveryBytes,
      onEvent: (event) => {
        if (event.kind === 'snapshot-made') this.snapshots += 1;
      },
    });
  }

  /** What a new leader would know: read from the durable bytes only. */
  private async replayed(): Promise<Ledger> {
    const storage = new FaultyStorage({ disk: this.disk.durable() });
    const ledger = new Ledger();
    const still = {
      ...walClock,
      setTimer: () => undefined,
      clearTimer: () => undefined,
      defer: (run: () => void) => run(),
    };
    const openJournal = this.journalOn(storage, still);
    let failed: Error | null = null;
    openJournal(
      {
        snapshot: (chunk) => loadChunk(ledger, chunk),
        entry: (bytes) => decodeRecords(bytes, (record) => ledger.apply(record)),
      },
      (error) => {
        failed = error;
      },
    );
    storage.run();
    const problem = failed as Error | null;
    if (problem !== null) this.world.problem(`the disk cannot be read: ${problem.message}`);
    return ledger;
  }
}

const SEEN: Readonly<Record<string, SubmitOp['seen']>> = {
  ERR_JOB_FAILED: 'dead',
  ERR_JOB_CANCELLED: 'cancelled',
  ERR_JOB_UNKNOWN: 'forgotten',
};

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}

/** Nothing to do, and nothing on its way to the disk: a tick that is written there and not yet applied would be a difference (seed 19). */
function isIdle(leader: Probe | undefined): boolean {
  if (leader === undefined || !leader.staging.isIdle) return false;
  const { queued, running } = leader.ledger.counts;
  return queued + running === 0;
}

const walClock = {
  now: () => 0,
  wallNow: () => nodeHost.wallNow(),
  random: () => 0.5,
  exit: () => undefined,
};

/** The checker looks at the live state from outside; the leader's own messages show only parts of it. */
function liveLeader(ref: ActorRef<typeof LeaderActor> | undefined): Probe | undefined {
  const cell = (ref as unknown as { cell: { state: { leader: Probe | undefined } } } | undefined)?.cell;
  return cell?.state.leader;
}

function snapshotText(ledger: Ledger): string {
  return [...encodeSnapshot(ledger)].map((chunk) => Buffer.from(chunk).toString('hex')).join('/');
}
