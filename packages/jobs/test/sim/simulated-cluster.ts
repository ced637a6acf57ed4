import { type ActorRef, nodeHost } from '@troupe/core';
import {
  type AttemptAbortedError,
  type AttemptContext,
  type Client,
  defineJob,
  handle,
  type JobDefinition,
  type JobHandle,
  NonRetryableError,
  type OpenJournal,
  type SubmitOptions,
  walJournal,
} from '@troupe/jobs';
import { type CodecName, inlineSnapshotBuilder, type WalHost } from '@troupe/wal';
import { FaultyStorage } from '@troupe/wal/testing';
import { type ClientActor, spawnClient } from '#src/client/client-actor.js';
import { parseJobId } from '#src/job/job-id.js';
import { ALL_QUEUES, queueOf } from '#src/job/queue-control.js';
import type { JournalOwner } from '#src/journal/journal.js';
import type { LeaderLimits } from '#src/leader/options/leader-limits.js';
import { decodeRecords } from '#src/ledger/codec/ledger-record-codec.js';
import { encodeSnapshot, loadChunk } from '#src/ledger/codec/ledger-snapshot-codec.js';
import { Ledger } from '#src/ledger/ledger.js';
import { LEDGER_FORMAT } from '#src/ledger/ledger-format.js';
import type { ClientMessage, ToClient } from '#src/protocol/client/client-messages.js';
import type { ToWorker, WorkerMessage } from '#src/protocol/worker/worker-messages.js';
import { WorkerActor } from '#src/worker/worker-actor.js';
import { aString } from '../plain-schema.js';
import { CarriedTraces } from './carried-traces.js';
import { Controls, REDRIVER } from './control/controls.js';
import { DrawnOrder } from './drawn-order.js';
import { FedJobs } from './fed-jobs.js';
import { checkHistory, expected, ObservedHistory, type SubmitOp } from './history-checker.js';
import { LeaderDisk, type MakeStorage } from './leader-disk.js';
import { MessageObserver } from './message-observer.js';
import { OperatorActs, originalOf } from './operator-acts.js';
import { LABEL } from './order-model.js';
import { foldOf, isRaised, type LeaderVersion, OtherVersions } from './other-versions.js';
import { type PeerVersion, PeerVersions } from './peer-versions.js';
import { RecordModel } from './record-model.js';
import { ScheduledJobs } from './scheduled-jobs.js';
import { type LeaderProbe, SimulatedLeaders } from './simulated-leaders.js';
import { SimulatedNetwork } from './simulated-network.js';
import { type SimulatedMachine, Simulation } from './simulation.js';
import { StreamReadings } from './stream-readings.js';
import { StreamedItems, streamedHandler, streamedJob } from './streamed-jobs.js';
import { warmHandler } from './warm-models.js';

const retry = { attempts: 4, baseMs: 20, capMs: 200, crashes: 3 };

interface Keep {
  readonly doneMs?: number;
  readonly deadMs?: number;
}

function jobsOf(group: string, keep: Keep, sticky: boolean) {
  const base = { input: aString, output: aString, leaseMs: 400, limits: { runMs: 1_500 }, retry };
  const common = { ...base, group, keep, sticky };
  return {
    quick: defineJob('sim.quick', common),
    slow: defineJob('sim.slow', common),
    flaky: defineJob('sim.flaky', common),
    doomed: defineJob('sim.doomed', common),
    final: defineJob('sim.final', common),
    poison: defineJob('sim.poison', common),
    hung: defineJob('sim.hung', {
      ...common,
      limits: { runMs: 300 },
      retry: { ...retry, attempts: 2 },
      useStatic: true,
    }),
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
const MEMORY_MS = 20;
/** A worker that was stopped is started again, as a supervisor of processes does. */
const RESTART_MS = 200;
/** Once all faults have ended and no job is left, a new one takes no longer. */
const LIVENESS_MS = 1_000;

/** The faults of one seed, and how often they occur. About half of the kinds are off in any one run. */
interface FaultPlan {
  readonly leaderCrash: number;
  /** How often a second leader is started on the directory of a live one, whose lock it does not see. */
  readonly secondLeaders: number;
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
  /** How often an operator redrives or purges dead letters. */
  readonly operatorActions: number;
  readonly limits: Partial<LeaderLimits>;
  readonly keep: Keep;
  /**
   * How often a call of the leader's disk fails, how often the disk is full for a while, how often a bit
   * flips on it.
   */
  readonly diskErrors: number;
  readonly diskFull: number;
  readonly bitFlips: number;
  /** How often the end of the log becomes zeros. */
  readonly zeroTails: number;
  /** Clients have keys, each its own identity. */
  readonly identities: boolean;
  /** The most attempts that a worker's connection allows. */
  readonly creditMax: number;
  /** The probability that a connection breaks at the answer to a call. */
  readonly cutAnswer: number;
  /** The last worker has code for another group than the others, and jobs of both are submitted. */
  readonly twoGroups: boolean;
}

/** Off by a second, an hour, ten years. */
const CLOCK_STEPS_MS = [1_000, 3_600_000, 3_650 * 24 * 3_600_000].flatMap((ms) => [ms, -ms]);
const KEY_WINDOW_MS = 24 * 3_600_000;
/** The mark follows within 50 ms and the latency of the disk. */
const MARKED_MS = 120;
const NO_LIMIT = Number.POSITIVE_INFINITY;

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
  /** Starts that the leader refused, and exits of the leader. */
  readonly refusals: number;
  readonly exits: number;
  /** Leaders that ended because another had opened their directory. */
  readonly fenced: number;
  /** Starts on a folder of a later version, which were refused. */
  readonly versionRefusals: number;
}

/** Faults of the leader's process, for planted bugs. */
export interface LeaderFaults {
  readonly storage?: MakeStorage;
  /** It does not exit when its log has failed. */
  readonly ignoresFatal?: boolean;
  /** Most jobs are those whose chunks are read. */
  readonly isOfStreams?: boolean;
  /** Stops of workers, batches, instants, redrives by filter, and workers that are preferred by a key. */
  readonly controls?: true;
  /** Jobs have priorities and order keys; with `limits` operators change queues, too. */
  readonly order?: 'lines' | 'limits';
}

/** A leader and at times a second one, three workers, two clients, their network and the leader's disk, under one seed. */
export class SimulatedCluster {
  private readonly simulation: Simulation;
  private readonly history = new ObservedHistory();
  private readonly leaders: SimulatedLeaders;
  private readonly workerMachines: SimulatedMachine[] = [];
  private readonly clientMachines: SimulatedMachine[] = [];
  private readonly network: SimulatedNetwork;
  private readonly random: () => number;
  private readonly faultPlan: FaultPlan;
  private readonly records: RecordModel;
  private readonly jobs: { readonly main: Jobs; readonly side: Jobs };
  private readonly open = new Set<SubmitOp>();
  private readonly clients = new Map<SimulatedMachine, Client>();
  private readonly disk: LeaderDisk;
  private readonly readings: StreamReadings;
  /** Clients that know streams, at a leader that does. */
  private readonly readers = new Map<SimulatedMachine, Client>();
  private readonly fedJobs: FedJobs;
  private readonly scheduled: ScheduledJobs;
  private readonly acts: OperatorActs;
  /** The operator after the faults. */
  private operator: { readonly client: Client; readonly machine: SimulatedMachine } | undefined = undefined;
  /** Clients of a version that knows feeds. */
  private readonly feedingClients = new Map<SimulatedMachine, Client>();
  private readonly versions: OtherVersions;
  private readonly peerVersions: PeerVersions;
  private readonly traces: CarriedTraces;
  private readonly streamed: ReturnType<typeof streamedJob>;
  private readonly order: DrawnOrder;
  private readonly controls: Controls;
  /** Calls of operators without an answer, by their client's machine. */
  private readonly calls = new Map<object, SimulatedMachine>();
  private snapshots = 0;
  private faulty = true;
  private submitted = 0;

  constructor(seed: number, leaderFaults: LeaderFaults = {}) {
    this.simulation = new Simulation(seed);
    this.random = this.simulation.stream('plan');
    const plan = this.drawFaultPlan();
    this.faultPlan = leaderFaults.isOfStreams === true ? { ...plan, submits: 2 } : plan;
    const { limits, keep } = this.faultPlan;
    const { keyWindowMs = KEY_WINDOW_MS, clientRunningMax = NO_LIMIT, jobsMax = NO_LIMIT } = limits;
    const { jobsPerIdentityMax = NO_LIMIT, keysPerIdentityMax = NO_LIMIT, deadMax = NO_LIMIT } = limits;
    const now = (): number => this.simulation.now;
    this.records = new RecordModel({ keyWindowMs, clientRunningMax, jobsPerIdentityMax }, now);
    const observer = new MessageObserver({
      history: this.history,
      records: this.records,
      bounds: { jobsMax, jobsPerIdentityMax, deadMax, keysPerIdentityMax },
      now,
      unanswered: (identity) => this.unanswered(identity),
      problem: (text) => this.simulation.problem(text),
    });
    this.readings = new StreamReadings({
      simulation: this.simulation,
      records: this.records,
      keep,
      drops: () => this.drops,
      hasRestarted: () => this.leaders.crashes > 0 || this.faultPlan.secondLeaders > 0,
      hasDiskFaults: () => this.disk.hasFailed,
      isMain: leaderFaults.isOfStreams === true,
      ran: (job, attempt, worker) =>
        this.history.ran(job, { attempt, worker, group: 'main', at: this.simulation.now }),
    });
    this.fedJobs = new FedJobs({
      simulation: this.simulation,
      records: this.records,
      keep,
      drops: () => this.drops,
      ran: (job, attempt, worker) =>
        this.history.ran(job, { attempt, worker, group: 'main', at: this.simulation.now }),
    });
    const isSticky = this.simulation.stream('sticky')() < 0.4 || leaderFaults.controls === true;
    this.jobs = { main: jobsOf('main', keep, isSticky), side: jobsOf('side', keep, isSticky) };
    this.scheduled = new ScheduledJobs({
      simulation: this.simulation,
      records: this.records,
      job: this.jobs.main.slow,
      deadMax,
    });
    this.acts = new OperatorActs({
      simulation: this.simulation,
      records: this.records,
      workers: Array.from({ length: WORKERS }, (_, i) => `worker${i}`),
      job: this.jobs.main.quick,
      redriveCalled: (jobs) => this.history.redriveCalled(jobs),
    });
    this.controls = new Controls({
      simulation: this.simulation,
      records: this.records,
      keep,
      areGiven: leaderFaults.controls === true,
      leader: () => this.leaders.current,
      leaderHasRunFor: (ms) => this.leaders.hasRunFor(ms),
      redriveCalled: (jobs) => this.history.redriveCalled(jobs),
      ran: (job, attempt, worker) =>
        this.history.ran(job, { attempt, worker, group: 'main', at: this.simulation.now }),
    });
    const { storage = (options) => new FaultyStorage(options) } = leaderFaults;
    this.disk = new LeaderDisk(this.simulation, storage, this.faultPlan.diskMs);
    // Two leaders at once are of one version.
    const isMixed = this.faultPlan.secondLeaders === 0;
    this.versions = new OtherVersions(this.simulation.stream('versions'), { isMixed });
    this.streamed = streamedJob(keep);
    this.order = new DrawnOrder(this.simulation.stream('order'), leaderFaults.order);
    this.peerVersions = new PeerVersions(this.simulation.stream('peer versions'), (text) =>
      this.simulation.problem(text),
    );
    this.traces = new CarriedTraces(this.simulation.stream('traces'), this.peerVersions);
    const { cutMessage: cut, cutAnswer } = this.faultPlan;
    const faults = { cut, cutAnswer, delayMs: 1 + this.random() * 10 };
    this.network = new SimulatedNetwork(this.simulation, faults, this.peerVersions, {
      received: (received, connection, leader) => {
        const message = received as ClientMessage | WorkerMessage;
        observer.received(message, connection);
        this.controls.received(message, connection.name, this.leaders.on(leader));
        if (message.kind === 'open_feed' || message.kind === 'feed')
          this.fedJobs.touched(connection.name, message.job);
      },
      sent: (sent, connection, leader) => {
        const message = sent as ToWorker | ToClient;
        observer.sent(message, connection, this.leaders.observed(leader));
        if (message.kind === 'answer') this.controls.sent(message, connection.name, this.leaders.on(leader));
        if (message.kind === 'welcome') this.fedJobs.sessionOpened(connection.name);
      },
    });
    this.leaders = new SimulatedLeaders(this.simulation, {
      disk: this.disk,
      network: this.network,
      records: this.records,
      random: this.random,
      limits,
      ignoresLock: this.faultPlan.secondLeaders > 0,
      ignoresFatal: leaderFaults.ignoresFatal === true,
      versions: this.versions,
      isHealing: () => !this.faulty,
      journalOn: (storage, host, version) =>
        this.journalOn(storage, host, { version, codec: this.versions.drawCodec() }),
    });
  }

  async run(): Promise<SimReport> {
    this.leaders.start();
    for (let i = 0; i < WORKERS; i += 1) {
      const machine = this.simulation.machine(`worker${i}`);
      this.workerMachines.push(machine);
      this.startWorker(machine);
    }
    for (let i = 0; i < CLIENTS; i += 1) {
      const machine = this.simulation.machine(`client${i}`);
      this.clientMachines.push(machine);
      this.startClient(machine, machine.name);
    }
    this.startRedriver();
    this.planFaults();
    this.watchMemory();
    await this.simulation.run(FAULTS_MS);
    this.heal();
    this.openQueues();
    this.scheduled.pauseAll(this.clients);
    this.readAfterFaults();
    const isSettled = (): boolean =>
      this.open.size === 0 &&
      this.calls.size === 0 &&
      this.readings.isSettled &&
      this.fedJobs.isSettled &&
      this.scheduled.isSettled &&
      this.acts.isSettled &&
      this.controls.isSettled;
    await this.simulation.run(FAULTS_MS + HEAL_MS, isSettled);
    await this.check();
    return {
      seed: this.simulation.seed,
      problems: this.simulation.problems,
      trace: this.simulation.trace,
      events: this.simulation.events,
      acknowledged: this.history.submits.filter((op) => op.outcome === 'ok').length,
      leaderCrashes: this.leaders.crashes,
      snapshots: this.snapshots,
      cuts: this.network.cuts,
      diskErrors: this.disk.errors,
      refusals: this.leaders.refusals,
      exits: this.leaders.exits,
      fenced: this.leaders.fenced,
      versionRefusals: this.leaders.versionRefusals,
    };
  }

  private knowsStreams({ features }: PeerVersion): boolean {
    return features.includes('streams') && this.peerVersions.leader.features.includes('streams');
  }

  /** One more client: a stream may wait for a reader whose client has crashed. */
  private readAfterFaults(): void {
    if (!this.knowsStreams(this.peerVersions.own)) return;
    const machine = this.simulation.machine('reader');
    this.startClient(machine, machine.name, this.peerVersions.own);
    const client = this.readers.get(machine) as Client; // it knows streams
    this.readings.heal([machine, client]);
  }

  /** An operator takes back all limits and modes, and no worker stays quiet. */
  private openQueues(): void {
    const machine = this.simulation.machine('operator');
    this.startClient(machine, machine.name, this.peerVersions.own);
    const client = this.clients.get(machine) as Client; // it was started
    this.clients.delete(machine);
    this.operator = { client, machine };
    const heal = (): void => {
      // A change of before must not come behind.
      if (this.calls.size === 0 && this.acts.isSettled && this.controls.isSettled)
        void this.called(machine, async () => {
          await this.order.heal(client);
          await this.acts.heal(client);
        });
      else this.simulation.at(this.simulation.now + 50, undefined, heal);
    };
    heal();
    this.controls.timed.heal(client, () => this.leaders.current);
  }

  private watchMemory(): void {
    this.readings.checkMemory(this.leaders.current?.streams.streams.values() ?? []);
    this.checkLiveWorkers();
    this.simulation.at(this.simulation.now + MEMORY_MS, undefined, () => this.watchMemory());
  }

  /** A worker that is connected, and not paused, never counts as blocked. */
  private checkLiveWorkers(): void {
    for (const { name, port, open, liveness } of this.leaders.current?.fleet.sessions.values() ?? [])
      if (open && liveness === 'blocked' && this.network.isWorking(port.port.ref))
        this.simulation.problem(`worker ${name} counts as blocked, it is connected and runs`);
  }

  /** Jobs of submits that are not answered, of one identity or of all; without keys all are one. */
  private unanswered(identity: string | undefined): number {
    let jobs = 0;
    for (const { outcome, owner, payload } of this.history.submits) {
      const isOwn = identity === undefined || owner.startsWith(identity);
      if (outcome === 'unknown' && isOwn) jobs += payload.startsWith('all ') ? 3 : 1;
    }
    // A job of a schedule is in the leader before its record is durable.
    return jobs + this.records.schedules.schedules.size;
  }

  /** The identity of a machine, and its name as a leader knows it. */
  private identityOf({ name }: SimulatedMachine): { readonly identity: string; readonly owner: string } {
    const identity = this.faultPlan.identities ? `identity-of-${name}` : '';
    return { identity, owner: identity === '' ? name : `${identity}/${name}` };
  }

  private drawFaultPlan(): FaultPlan {
    const sometimes = (max: number): number => (this.random() < 0.5 ? 0 : this.random() * max);
    const disk = this.simulation.stream('disk plan');
    const onDisk = (max: number): number => (disk() < 0.6 ? 0 : disk() * max);
    const rivals = this.simulation.stream('second leaders');
    const secondLeaders = rivals() < 0.7 ? 0 : 1 + rivals() * 3;
    const identities = this.random() < 0.4;
    const plan = {
      leaderCrash: sometimes(4),
      workerCrash: sometimes(4),
      clientCrash: sometimes(1),
      pause: sometimes(4),
      cutAll: sometimes(5),
      cutMessage: sometimes(0.02),
      diskMs: 0.2 + this.random() * 6,
      snapshotEveryBytes: this.random() < 0.5 ? 0 : 100_000,
      submits: 10 + Math.floor(this.random() * 30),
      clockSteps: sometimes(4),
      operatorActions: sometimes(8),
      limits: this.drawLimits(identities),
      keep: this.drawKeep(),
      twoGroups: this.random() < 0.5,
      diskErrors: onDisk(6),
      diskFull: onDisk(2),
      bitFlips: onDisk(3),
      zeroTails: onDisk(2),
      identities,
      creditMax: this.random() < 0.3 ? 1 + Math.floor(this.random() * 3) : 1_024,
      cutAnswer: sometimes(0.3),
    };
    // Both leaders write to a damaged file, so that its repair would be a second damage.
    return secondLeaders > 0
      ? { ...plan, secondLeaders, bitFlips: 0, zeroTails: 0 }
      : { ...plan, secondLeaders };
  }

  private drawLimits(identities: boolean): Partial<LeaderLimits> {
    const upTo = (max: number): number => Math.floor(this.random() * max);
    return {
      ...(this.random() < 0.3 ? { resultsMax: upTo(12) } : {}),
      ...(this.random() < 0.2 ? { resultsBytesMax: upTo(400) } : {}),
      ...(this.random() < 0.3 ? { clientRunningMax: 1 + upTo(4) } : {}),
      ...(this.random() < 0.2 ? { keyWindowMs: 500 + upTo(3_000) } : {}),
      ...(this.random() < 0.2 ? { jobsMax: 5 + upTo(20) } : {}),
      ...(this.random() < 0.2 ? { deadMax: 1 + upTo(10) } : {}),
      ...(identities && this.random() < 0.4 ? { jobsPerIdentityMax: 2 + upTo(8) } : {}),
      ...(identities && this.random() < 0.4 ? { keysPerIdentityMax: 1 + upTo(4) } : {}),
    };
  }

  private drawKeep(): Keep {
    return {
      ...(this.random() < 0.3 ? { doneMs: Math.floor(this.random() * 1_000) } : {}),
      ...(this.random() < 0.3 ? { deadMs: Math.floor(this.random() * 1_000) } : {}),
    };
  }

  /** Whether ended jobs may be dropped before the run is over. */
  private get drops(): boolean {
    const { limits, keep, clockSteps } = this.faultPlan;
    const { resultsMax, resultsBytesMax } = limits;
    const { doneMs, deadMs } = keep;
    return (
      clockSteps > 0 || [resultsMax, resultsBytesMax, doneMs, deadMs].some((value) => value !== undefined)
    );
  }

  private startWorker(machine: SimulatedMachine): void {
    const host = machine.boot();
    const { incarnation } = machine;
    // One worker can run every job.
    const version = machine === this.workerMachines[0] ? this.peerVersions.own : this.peerVersions.draw();
    const peer = {
      machine,
      incarnation,
      version,
      // No rule is about the identity of a worker.
      identity: '',
      creditMax: this.faultPlan.creditMax,
      lost: () => ref.tell.connectionLost(),
      reconnect: () => ref.tell.connected(),
      stopped: () => this.crashWorker(machine, RESTART_MS),
    };
    const isSide = this.faultPlan.twoGroups && machine === this.workerMachines[WORKERS - 1];
    const jobs = isSide ? this.jobs.side : this.jobs.main;
    const labels = machine === this.workerMachines[0] ? [LABEL] : [];
    const slots = 1 + Math.floor(this.random() * 4);
    const underWay = { handlers: 0, slots };
    const run = (kind: Kind) => (input: string, context: AttemptContext) =>
      this.counted(underWay, () => {
        this.checkTrace(input, context, version);
        return this.handle(kind, input, context, machine, jobs[kind].policy.group);
      });
    const problem = (text: string): void => this.simulation.problem(text);
    const ref: ActorRef<typeof WorkerActor> = machine.system.spawn(WorkerActor, {
      args: {
        // Some come back under another name, as a replaced machine does: then the leader does not learn that
        // the old one is gone.
        worker: this.random() < 0.3 ? `${machine.name}.${incarnation}` : machine.name,
        host,
        leader: this.network.leaderFor(peer),
        load: { cpu: () => 0, lagMs: () => 0 },
        settings: {
          slots,
          bytesMax: 1_000,
          cpuCap: 1,
          withholdMsMax: 0,
          patterns: ['job.assign.>'],
          labels,
        },
        handlers: {
          current: [
            ...(Object.keys(jobs) as Kind[]).map((kind) =>
              kind === 'hung' ? warmHandler(jobs.hung, run(kind), problem) : handle(jobs[kind], run(kind)),
            ),
            ...(isSide ? [] : this.readings.handled(machine, underWay)),
            ...(isSide ? [] : [streamedHandler(this.streamed, run('slow'), problem)]),
            ...(isSide ? [] : [this.fedJobs.handled(machine, underWay)]),
            ...(isSide ? [] : [this.controls.batches.handled(machine, underWay)]),
          ],
        },
      },
    });
  }

  private crashWorker(machine: SimulatedMachine, downMs: number): void {
    if (!machine.alive) return;
    machine.crash();
    this.network.peerDown(machine);
    this.simulation.at(this.simulation.now + downMs, undefined, () => this.startWorker(machine));
  }

  /** Handlers under way are never more than the slots of their worker. */
  private counted(
    underWay: { handlers: number; readonly slots: number },
    handler: () => string | Promise<string>,
  ): string | Promise<string> {
    underWay.handlers += 1;
    if (underWay.handlers > underWay.slots)
      this.simulation.problem(`${underWay.handlers} handlers under way with ${underWay.slots} slots`);
    const end = (): void => {
      underWay.handlers -= 1;
    };
    let output: string | Promise<string> | undefined;
    try {
      output = handler();
      return output;
    } finally {
      if (output instanceof Promise) output.then(end, end);
      else end();
    }
  }

  private checkTrace(input: string, context: AttemptContext, version: PeerVersion): void {
    const problem = this.traces.check(context, originalOf(input), version, {
      leaderForgets: this.versions.forgetsFields,
    });
    if (problem !== undefined) this.simulation.problem(problem);
  }

  private handle(
    kind: Kind,
    input: string,
    context: AttemptContext,
    machine: SimulatedMachine,
    group: string,
  ): string | Promise<string> {
    const job = Number.parseInt(context.jobId.split('-')[1] ?? '', 36);
    this.history.ran(job, { attempt: context.attempt, worker: machine.name, group, at: this.simulation.now });
    const output = expected({ payload: input }, context.attempt);
    if (kind === 'slow' || kind === 'hung') this.watchSignal(job, context.signal);
    switch (kind) {
      case 'quick':
        return output;
      case 'slow':
        return this.sleep(machine, this.random() * 250, output);
      case 'flaky':
        this.snoozeSometimes(context);
        if (this.random() < 0.5) throw new Error('fails at random');
        return output;
      case 'doomed':
        throw new Error('never works');
      case 'final':
        throw new NonRetryableError('do not try again');
      case 'poison': {
        const { incarnation } = machine;
        this.simulation.at(this.simulation.now + 5, machine, () => {
          if (machine.incarnation === incarnation) this.crashWorker(machine, 50);
        });
        return this.sleep(machine, 10_000, output);
      }
      case 'hung':
        // It ignores its signal, and ends long after its attempt.
        return this.sleep(machine, 2_000, output);
      default:
        return kind satisfies never;
    }
  }

  private snoozeSometimes(context: AttemptContext): void {
    const ms = this.order.snoozeMs();
    if (ms !== undefined) context.snooze(ms);
  }

  private watchSignal(job: number, signal: AbortSignal): void {
    signal.addEventListener('abort', () => {
      const { reason, detail } = signal.reason as AttemptAbortedError; // the reason of every attempt's signal
      if (reason === 'cancelled') this.history.cancelled.push({ job, detail });
    });
  }

  private sleep(machine: SimulatedMachine, ms: number, output: string): Promise<string> {
    return new Promise((resolve) => {
      this.simulation.at(this.simulation.now + ms, machine, () => resolve(output));
    });
  }

  /** An operator with a process of its own, which lives as long as the run. */
  private startRedriver(): void {
    const { redrives } = this.controls;
    if (!redrives.isOn) return;
    const machine = this.simulation.machine(REDRIVER);
    const client = this.connectClient(machine, REDRIVER, this.peerVersions.own);
    for (const ms of redrives.actionTimes(FAULTS_MS))
      this.simulation.at(ms, machine, () => redrives.act(client, machine));
  }

  private connectClient(machine: SimulatedMachine, name: string, version: PeerVersion): Client {
    const host = machine.boot();
    const { incarnation } = machine;
    const peer = {
      machine,
      incarnation,
      version,
      identity: this.identityOf(machine).identity,
      creditMax: 0,
      lost: () => spawned.ref.tell.connectionLost(),
      reconnect: () => spawned.ref.tell.connected(),
    };
    const spawned: { client: Client; ref: ActorRef<typeof ClientActor> } = spawnClient(
      (definition, ...rest) => machine.system.spawn(definition, ...rest),
      { name, host, leader: this.network.leaderFor(peer) },
    );
    return spawned.client;
  }

  private startClient(machine: SimulatedMachine, name: string, own?: PeerVersion): void {
    const version = own ?? this.peerVersions.draw();
    const client = this.connectClient(machine, name, version);
    this.clients.set(machine, client);
    if (version.features.includes('feeds')) this.feedingClients.set(machine, client);
    else this.feedingClients.delete(machine);
    const submits = this.faulty ? this.faultPlan.submits : 0;
    for (let i = 0; i < submits; i += 1) {
      const at = this.simulation.now + this.random() * Math.max(0, FAULTS_MS - this.simulation.now);
      this.simulation.at(at, machine, () => void this.submit(client, machine, version));
    }
    const knowsStreams = this.knowsStreams(version);
    if (knowsStreams) this.readers.set(machine, client);
    else this.readers.delete(machine);
    for (const ms of this.faulty && knowsStreams
      ? this.readings.submitTimes(FAULTS_MS - this.simulation.now)
      : [])
      this.simulation.at(this.simulation.now + ms, machine, () => void this.submitStream(client, machine));
    for (const ms of this.faulty ? this.fedJobs.submitTimes(FAULTS_MS - this.simulation.now) : [])
      this.simulation.at(
        this.simulation.now + ms,
        machine,
        () => void this.submitFed(client, machine, version),
      );
    const changes = this.faulty ? this.order.changes : 0;
    for (let i = 0; i < changes; i += 1) {
      const at = this.simulation.now + (i + 0.5) * Math.max(0, (FAULTS_MS - this.simulation.now) / changes);
      this.simulation.at(at, machine, () => void this.called(machine, () => this.order.change(client)));
    }
    for (const ms of this.faulty ? this.scheduled.actionTimes(FAULTS_MS - this.simulation.now) : [])
      this.simulation.at(this.simulation.now + ms, machine, () => void this.scheduled.act(client, machine));
    for (const ms of this.faulty ? this.acts.actionTimes(FAULTS_MS - this.simulation.now) : [])
      this.simulation.at(this.simulation.now + ms, machine, () => void this.acts.act(client, machine));
    if (this.faulty) this.planControls(client, machine);
    const operatorActions = this.faulty ? this.faultPlan.operatorActions : 0;
    for (let i = 0; i < operatorActions; i += 1) {
      const at = this.simulation.now + this.random() * Math.max(0, FAULTS_MS - this.simulation.now);
      this.simulation.at(at, machine, () => void this.operate(client, machine));
    }
  }

  private planControls(client: Client, machine: SimulatedMachine): void {
    const { stops, batches, timed } = this.controls;
    const { now } = this.simulation;
    const leftMs = FAULTS_MS - now;
    for (const ms of stops.actionTimes(leftMs))
      this.simulation.at(now + ms, machine, () => stops.act(client, machine, this.leaders.current));
    for (const { ms, jobs } of batches.bursts(leftMs))
      this.simulation.at(now + ms, machine, () => {
        for (let i = 0; i < jobs; i += 1)
          void this.submitControlled(client, machine, batches.job, 'batched', {});
      });
    for (const ms of timed.submitTimes(leftMs))
      this.simulation.at(now + ms, machine, () => {
        const leader = this.leaders.current;
        if (leader === undefined) return;
        const runAt = timed.draw(leader);
        void this.submitControlled(client, machine, this.jobs.main.quick, 'timed', { runAt });
      });
  }

  private async submitControlled(
    client: Client,
    machine: SimulatedMachine,
    job: Jobs['quick'],
    name: string,
    options: SubmitOptions,
  ): Promise<void> {
    this.submitted += 1;
    const op = this.newSubmit(machine, job.exec, `${name} ${this.submitted}`);
    await this.track(op, async () => {
      const handle = await client.submit(job, op.payload, { ...options, ...this.acts.options() });
      this.history.accepted(op, [numberOf(handle)]);
      await this.follow(op, handle);
    });
  }

  private crashClient(machine: SimulatedMachine): void {
    machine.crash();
    this.network.peerDown(machine);
    // Its promises never settle; an outcome it had not received stays unknown.
    for (const op of this.open) if (op.client === machine.name) this.open.delete(op);
    this.readings.clientCrashed(machine);
    this.fedJobs.clientCrashed(machine);
    this.scheduled.clientCrashed(machine);
    this.acts.clientCrashed(machine);
    this.controls.clientCrashed(machine);
    for (const [call, of] of this.calls) if (of === machine) this.calls.delete(call);
    this.simulation.at(this.simulation.now + 100, undefined, () => this.startClient(machine, machine.name));
  }

  /** Several jobs in one record, followed as one submit. */
  private async submitAll(client: Client, machine: SimulatedMachine): Promise<void> {
    this.submitted += 1;
    const payload = `all ${this.submitted}`;
    const { quick } = this.jobs.main;
    const op = this.newSubmit(machine, quick.exec, payload);
    await this.track(op, async () => {
      const handles = await client.submitAll(quick, [payload, payload, payload]);
      this.history.accepted(op, handles.map(numberOf));
      const ended = handles.map((one, at) =>
        one.result().catch((error) => this.ignoreLostWorkers(error, op.jobs[at])),
      );
      await Promise.all(ended);
    });
  }

  private newSubmit(
    machine: SimulatedMachine,
    exec: string,
    payload: string,
    more: { readonly key?: string; readonly delayMs?: number } = {},
  ): SubmitOp {
    const { name: client, incarnation } = machine;
    const { owner } = this.identityOf(machine);
    const submittedAt = this.simulation.now;
    return this.history.submit({ client, owner, incarnation, exec, payload, key: '', submittedAt, ...more });
  }

  /** A submit is open until its last answer has come. */
  private async track(op: SubmitOp, run: () => Promise<void>): Promise<void> {
    this.open.add(op);
    try {
      await run();
    } catch (error) {
      if (op.outcome === 'unknown') op.outcome = 'refused';
      else this.simulation.problem(`job ${op.jobs[0]}: ${String(error)}`);
    } finally {
      this.open.delete(op);
    }
  }

  /**
   * A quick job does not fail by itself, but it may lose its worker as often as the policy allows; an operator
   * may purge it then, before its client learns of it.
   */
  private ignoreLostWorkers(error: unknown, no: number | undefined): void {
    const isPurged = no !== undefined && this.records.jobs.get(no)?.state === 'purged';
    if (codeOf(error) === 'ERR_JOB_UNKNOWN' && (this.drops || isPurged)) return;
    const { reason } = error as { reason?: string };
    if (codeOf(error) !== 'ERR_JOB_FAILED' || (reason !== 'quarantined' && reason !== 'timed-out'))
      throw error;
  }

  private async submit(client: Client, machine: SimulatedMachine, version: PeerVersion): Promise<void> {
    if (this.random() < 0.05) return this.submitAll(client, machine);
    if (this.random() < 0.1) return this.submitStreamed(client, machine, version);
    const kind = KINDS[Math.floor(this.random() * KINDS.length)] ?? 'quick';
    const keyed = this.random() < 0.25;
    const key = keyed ? `key${Math.floor(this.random() * 6)}` : '';
    this.submitted += 1;
    const payload = keyed ? `keyed ${kind} ${key}` : `${kind} ${this.submitted}`;
    const isSide = this.faultPlan.twoGroups && this.random() < 0.4;
    const job = (isSide ? this.jobs.side : this.jobs.main)[kind];
    const delayMs = this.random() < 0.2 ? Math.floor(this.random() * 500) : 0;
    const op = this.newSubmit(machine, job.exec, payload, { key, delayMs });
    const delayed = delayMs === 0 ? {} : { runAfterMs: delayMs };
    const cancelAfter = this.random() < 0.15 ? this.random() * 300 : 0;
    await this.track(op, async () => {
      const drawn = { ...this.order.options(job), ...this.acts.options() };
      const options = { ...delayed, ...this.traces.draw(payload, version), ...drawn };
      const handle = await client.submit(job, payload, keyed ? { key, ...options } : options);
      this.history.accepted(op, [numberOf(handle)]);
      if (cancelAfter > 0) this.cancelLater(op, handle, machine, cancelAfter);
      if (version.features.includes('streams') && this.random() < 0.05) await this.readPlain(op, handle);
      if (this.random() < 0.3) this.inspectLater(op, handle, machine, this.random() * 600);
      await this.follow(op, handle);
      // About when its retention is over.
      const { doneMs } = this.faultPlan.keep;
      if (doneMs !== undefined) this.inspectLater(op, handle, machine, doneMs - 15 + this.random() * 30);
    });
  }

  private async submitStream(client: Client, machine: SimulatedMachine): Promise<void> {
    const { job, streaming } = this.readings.draw();
    this.submitted += 1;
    const op = this.newSubmit(machine, job.exec, `streamed ${this.submitted}`);
    const others = [...this.readers].filter(([other]) => other !== machine && other.alive);
    await this.track(op, async () => {
      const handle = await client.submit(job, op.payload, { streaming });
      const no = numberOf(handle);
      this.history.accepted(op, [no]);
      this.readings.read(handle, { no, policy: job, streaming }, [[machine, client], ...others]);
      await this.follow(op, handle);
    });
  }

  private async submitFed(client: Client, machine: SimulatedMachine, version: PeerVersion): Promise<void> {
    if (!version.features.includes('feeds')) return;
    const { job } = this.fedJobs;
    this.submitted += 1;
    const op = this.newSubmit(machine, job.exec, `fed ${this.submitted}`);
    const others = [...this.feedingClients].filter(([other]) => other !== machine && other.alive);
    await this.track(op, async () => {
      const handle = await client.submit(job, op.payload, { streaming: 'internal' });
      this.history.accepted(op, [numberOf(handle)]);
      this.fedJobs.feed(handle, numberOf(handle), machine, others[0]);
      await this.follow(op, handle);
    });
  }

  /** A leader without streams refuses its definition, at once and for good. */
  private async submitStreamed(
    client: Client,
    machine: SimulatedMachine,
    version: PeerVersion,
  ): Promise<void> {
    if (!version.features.includes('streams')) return;
    this.submitted += 1;
    const payload = `streamed ${this.submitted}`;
    const op = this.newSubmit(machine, this.streamed.exec, payload);
    const trace = this.traces.draw(payload, version);
    await this.track(op, async () => {
      const handle = await client.submit(this.streamed, payload, { streaming: 'response', ...trace });
      this.history.accepted(op, [numberOf(handle)]);
      if (!this.peerVersions.leader.features.includes('streams'))
        this.simulation.problem(`job ${op.jobs[0]} streams at a leader without streams`);
      await this.checkItems(op, handle);
      await this.follow(op, handle);
    });
  }

  /** The chunks of an attempt come in their order, and each is there or in a gap. */
  private async checkItems(op: SubmitOp, handle: JobHandle<typeof this.streamed>): Promise<void> {
    const reader = new StreamedItems();
    try {
      for await (const item of handle.items()) {
        const problem = reader.take(item);
        if (problem !== undefined) this.simulation.problem(`stream of job ${op.jobs[0]}: ${problem}`);
      }
    } catch (error) {
      // Whether it may have been dropped is decided where its result is awaited.
      if (codeOf(error) !== 'ERR_JOB_UNKNOWN') throw error;
    }
  }

  /** Of a job that does not stream; a leader without streams is not called at all. */
  private async readPlain(op: SubmitOp, handle: JobHandle<JobDefinition>): Promise<void> {
    try {
      for await (const item of handle.items())
        if (item.kind !== 'end')
          this.simulation.problem(`job ${op.jobs[0]} does not stream, and has ${item.kind}`);
    } catch (error) {
      if (codeOf(error) !== 'ERR_STREAM_REFUSED' && codeOf(error) !== 'ERR_JOB_UNKNOWN')
        this.simulation.problem(`stream of job ${op.jobs[0]}: ${String(error)}`);
    }
  }

  /** The rules about its answer are those of the observer. */
  private inspectLater(
    op: SubmitOp,
    handle: { inspect(): Promise<unknown> },
    machine: SimulatedMachine,
    ms: number,
  ): void {
    this.simulation.at(this.simulation.now + ms, machine, () => {
      handle.inspect().catch((error: unknown) => {
        if (codeOf(error) !== 'ERR_JOB_UNKNOWN')
          this.simulation.problem(`inspect of job ${op.jobs[0]}: ${String(error)}`);
      });
    });
  }

  private cancelLater(
    op: SubmitOp,
    handle: { cancel(reason: string): Promise<string> },
    machine: SimulatedMachine,
    ms: number,
  ): void {
    const reason = `reason ${this.submitted}`;
    this.simulation.at(this.simulation.now + ms, machine, () => {
      op.cancelReasons.push(reason);
      void handle.cancel(reason).then(
        (state) => {
          if (state === 'cancelled') op.cancelAcked = this.simulation.now;
          for (const job of op.jobs) this.history.ended(job, this.simulation.now);
        },
        (error: unknown) => {
          // It may have been dropped meanwhile; the checker decides whether that was allowed.
          if (codeOf(error) === 'ERR_JOB_UNKNOWN') op.seen = op.seen === 'nothing' ? 'dropped' : op.seen;
          else this.simulation.problem(`cancel of job ${op.jobs[0]}: ${String(error)}`);
        },
      );
    });
  }

  private operate(client: Client, machine: SimulatedMachine): Promise<void> {
    return this.called(machine, () => this.redriveOrPurge(client));
  }

  /** A call of an operator is open until its answer has come. */
  private async called(machine: SimulatedMachine, run: () => Promise<void>): Promise<void> {
    const call = {};
    this.calls.set(call, machine);
    try {
      await run();
    } catch (error) {
      const isKnown = (['list', 'dead-attempts'] as const).every((kind) => this.peerVersions.hasCall(kind));
      if (isKnown || codeOf(error) !== 'ERR_CALL_UNSUPPORTED')
        this.simulation.problem(`call of an operator: ${String(error)}`);
    } finally {
      this.calls.delete(call);
    }
  }

  /** An operator lists the dead letters and redrives or purges some. */
  private async redriveOrPurge(client: Client): Promise<void> {
    const submittedAt = this.simulation.now;
    const dead = await client.deadLetters();
    for (const { job } of dead) {
      if ((this.records.jobs.get(job)?.purgedAt ?? Number.POSITIVE_INFINITY) < submittedAt)
        this.simulation.problem(`job ${job} is listed among the dead letters after it was purged`);
    }
    const some = dead.filter(() => this.random() < 0.6).map(({ job }) => job);
    const ids = some.map((job) => client.idOf(job));
    if (some.length === 0) return;
    if (this.random() < 0.3) {
      await client.purge(ids);
      return;
    }
    this.history.redriveCalled(some);
    await client.redrive(ids).catch((error: unknown) => {
      // Another operator was first, or their retention is over.
      if (codeOf(error) !== 'ERR_JOB_NOT_DEAD') throw error;
    });
  }

  private async follow(op: SubmitOp, handle: { result(): Promise<unknown> }): Promise<void> {
    try {
      op.result = await handle.result();
      op.seen = 'done';
    } catch (error) {
      const seen = SEEN[codeOf(error)];
      if (seen === undefined) throw error;
      op.seen = seen;
      if (seen === 'dropped') return;
    }
    for (const job of op.jobs) this.history.ended(job, this.simulation.now);
  }

  private planFaults(): void {
    const plan = (count: number, act: () => void): void => {
      for (let i = 0; i < count; i += 1) {
        this.simulation.at(this.random() * FAULTS_MS, undefined, () => {
          if (this.faulty) act();
        });
      }
    };
    const someWorker = (): SimulatedMachine =>
      this.workerMachines[Math.floor(this.random() * WORKERS)] as SimulatedMachine;
    const { faultPlan } = this;
    plan(faultPlan.leaderCrash, () => this.leaders.cutPower(10 + this.random() * 600));
    plan(faultPlan.secondLeaders, () => this.leaders.start());
    plan(faultPlan.workerCrash, () => this.crashWorker(someWorker(), 10 + this.random() * 600));
    plan(faultPlan.clientCrash, () =>
      this.crashClient(this.clientMachines[Math.floor(this.random() * CLIENTS)] as SimulatedMachine),
    );
    plan(faultPlan.pause, () => {
      const leader = this.random() < 0.3 ? someOf(this.leaders.machines, this.random) : undefined;
      this.pause(leader ?? someWorker());
    });
    plan(faultPlan.diskErrors, () => this.disk.arm());
    plan(faultPlan.diskFull, () => this.disk.fill(20 + this.random() * 300));
    plan(faultPlan.bitFlips, () => {
      if (this.leaders.machines.length === 0) return;
      this.leaders.cutPower(100);
      this.disk.flipBit();
    });
    plan(faultPlan.zeroTails, () => this.zeroTail());
    plan(faultPlan.cutAll, () => this.network.cutSome(0.5));
    plan(faultPlan.clockSteps, () => {
      const machine = someOf(this.leaders.machines, this.random);
      if (machine !== undefined) machine.wallStepMs = someOf(CLOCK_STEPS_MS, this.random) ?? 0;
    });
  }

  /** Only what the mark covers: nothing was acknowledged for a while, and the leader ran. */
  private zeroTail(): void {
    if (!this.faulty) return;
    const { now } = this.simulation;
    if (!this.leaders.hasRunFor(MARKED_MS) || this.records.lastAppendAt >= now - MARKED_MS) {
      this.simulation.at(now + 20, undefined, () => this.zeroTail());
      return;
    }
    this.leaders.cutPower(100);
    this.disk.zeroTail();
  }

  private pause(machine: SimulatedMachine): void {
    machine.pausedUntil = Math.max(machine.pausedUntil, this.simulation.now + this.random() * 900);
    // An event without an effect, at which the machine continues.
    this.simulation.at(machine.pausedUntil, undefined, () => undefined);
  }

  private heal(): void {
    this.faulty = false;
    this.network.faults = { ...this.network.faults, cut: 0, cutAnswer: 0 };
    this.disk.heal();
  }

  /** After the faults: every submit is answered, and the log agrees with the memory. */
  private async check(): Promise<void> {
    const { simulation } = this;
    for (const op of this.open)
      simulation.problem(`a ${op.exec} of ${op.client} (${op.outcome}) was never answered`);
    for (const machine of this.calls.values())
      simulation.problem(`a call of an operator at ${machine.name} was never answered`);
    if (simulation.problems.length > 0) return;
    // Jobs that are in flight or redriven come to their end before the live state is read.
    await simulation.run(simulation.now + 3_000);
    await simulation.run(simulation.now + HEAL_MS, () => isIdle(this.leaders.current));
    const live = this.leaders.current?.ledger;
    if (live === undefined) return simulation.problem('the leader does not run after the faults ended');
    await this.checkLiveness();
    await this.checkActs();
    const allowances = {
      drops: this.drops,
      restarted: this.leaders.crashes > 0 || this.faultPlan.secondLeaders > 0,
    };
    for (const problem of this.readings.check()) simulation.problem(problem);
    for (const problem of this.fedJobs.check()) simulation.problem(problem);
    // It may have had no room for them until now.
    await simulation.run(simulation.now + HEAL_MS, () => this.isUpToDate(this.leaders.current));
    const leader = this.leaders.current;
    for (const problem of leader === undefined ? [] : this.scheduled.check(leader))
      simulation.problem(problem);
    if (leader !== undefined) this.checkWaiting(leader);
    for (const problem of checkHistory(this.history, this.records, live, allowances))
      simulation.problem(problem);
    const replayed = await this.replayed();
    if (this.versions.forgetsFields)
      for (const { traces, audit } of [live, replayed]) {
        traces.clear();
        audit.clear();
      }
    if (snapshotText(live) !== snapshotText(replayed))
      simulation.problem('the log replayed is not the live state');
  }

  /** The jobs that queues show as waiting are the queued ones. */
  private checkWaiting({ queues, ledger }: LeaderProbe): void {
    let waiting = queues.delayed;
    for (const queue of queues.queuesOf(ALL_QUEUES)) waiting += queue.size;
    for (const queue of new Set(queues.queuesOf(ALL_QUEUES).map(queueOf)))
      waiting += queues.orderGates.waitingIn(queue);
    const { queued } = ledger.counts;
    if (waiting !== queued) this.simulation.problem(`${waiting} jobs wait in queues, ${queued} are queued`);
  }

  /** The audit has every act, and searches find every job. */
  private async checkActs(): Promise<void> {
    const { simulation, operator } = this;
    const leader = this.leaders.current;
    if (leader === undefined || operator === undefined) return;
    const acts = [...leader.ledger.audit.entries()].map(({ at, by, action }) => `${at} ${by} ${action}`);
    // An earlier version records no clients.
    if (!this.versions.forgetsFields && acts.join('\n') !== this.records.acts.acts.join('\n'))
      simulation.problem(`the audit has ${acts.length} acts, the records ${this.records.acts.acts.length}`);
    this.acts.checkSearches(operator.client, operator.machine, leader);
    await simulation.run(simulation.now + HEAL_MS, () => this.acts.isSettled);
    if (!this.acts.isSettled) simulation.problem('a search was never answered');
  }

  private isUpToDate(leader: LeaderProbe | undefined): boolean {
    return leader !== undefined && isIdle(leader) && this.scheduled.overdue(leader).next().done === true;
  }

  /** Without faults, and with nothing else to do, a job of each client has its outcome within a second. */
  private async checkLiveness(): Promise<void> {
    const { simulation } = this;
    for (const [machine, client] of this.clients) void this.submitQuick(client, machine);
    await simulation.run(simulation.now + LIVENESS_MS, () => this.open.size === 0);
    for (const { client, outcome } of this.open)
      simulation.problem(
        `a quick job of ${client} (${outcome}) has no end ${LIVENESS_MS} ms after its submit`,
      );
    await simulation.run(simulation.now + HEAL_MS, () => isIdle(this.leaders.current));
  }

  private async submitQuick(client: Client, machine: SimulatedMachine): Promise<void> {
    const { quick } = this.jobs.main;
    this.submitted += 1;
    const op = this.newSubmit(machine, quick.exec, `quick ${this.submitted}`);
    await this.track(op, async () => {
      const handle = await client.submit(quick, op.payload);
      this.history.accepted(op, [numberOf(handle)]);
      await this.follow(op, handle);
    });
  }

  /**
   * Small segments and early snapshots, so that a short run has rotation, snapshots and the removal of files.
   */
  private journalOn(
    storage: FaultyStorage,
    host: WalHost,
    { version, codec }: { readonly version: LeaderVersion; readonly codec: CodecName },
  ): OpenJournal {
    return walJournal({
      storage,
      host,
      codec,
      segmentBytes: 65_536,
      firstSegmentBytes: 65_536,
      freeBytesSoft: 0,
      batchBytesMax: 61_440,
      // More than an entry of a leader has: entries are never stored beside the log.
      inlineBytesMax: 45_000,
      snapshotBuilder: inlineSnapshotBuilder(storage, foldOf(version)),
      snapshotEveryBytes: this.faultPlan.snapshotEveryBytes,
      onEvent: (event) => {
        if (event.kind === 'snapshot-made') this.snapshots += 1;
      },
    });
  }

  /** The ledger of a new leader, read from the durable bytes only. */
  private async replayed(): Promise<Ledger> {
    const storage = new FaultyStorage({ disk: this.disk.durable() });
    const ledger = new Ledger();
    const frozenHost = {
      ...walClock,
      setTimer: () => undefined,
      clearTimer: () => undefined,
      defer: (run: () => void) => run(),
      later: (run: () => void) => run(),
    };
    // The version that knows everything in the folder.
    const version = isRaised(storage.disk) ? 'raising' : 'forgetful';
    const journal = this.journalOn(storage, frozenHost, { version, codec: 'binary' });
    const openJournal = this.versions.open(version, journal);
    let failed: Error | null = null;
    openJournal(
      {
        format: LEDGER_FORMAT,
        snapshot: (chunk) => loadChunk(ledger, chunk),
        entry: (bytes) => decodeRecords(bytes, (record) => ledger.apply(record)),
      },
      (error) => {
        failed = error;
      },
      // Nothing is appended to it, so its actor does nothing.
      { spawn: () => ({}) } as unknown as JournalOwner,
    );
    storage.run();
    const problem = failed as Error | null;
    if (problem !== null) this.simulation.problem(`the disk cannot be read: ${problem.message}`);
    return ledger;
  }
}

const SEEN: Readonly<Record<string, SubmitOp['seen']>> = {
  ERR_JOB_FAILED: 'dead',
  ERR_JOB_CANCELLED: 'cancelled',
  ERR_JOB_UNKNOWN: 'dropped',
};

function numberOf({ id }: { readonly id: string }): number {
  return parseJobId(id.split('-')[0] ?? '', id);
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}

/** No live job, and no staged record: a tick that is durable and not yet applied would be a difference. */
function isIdle(leader: LeaderProbe | undefined): boolean {
  if (leader === undefined || !leader.journalWriter.isIdle) return false;
  const { queued, running } = leader.ledger.counts;
  // Handlers that run on after their attempt hold their slots.
  const holdsSlots = [...leader.fleet.sessions.values()].some(({ reportedOverrun }) => reportedOverrun > 0);
  return queued + running === 0 && !holdsSlots;
}

const walClock = {
  now: () => 0,
  wallNow: () => nodeHost.wallNow(),
  random: () => 0.5,
  exit: () => undefined,
};

function someOf<T>(values: readonly T[], random: () => number): T | undefined {
  return values[Math.floor(random() * values.length)];
}

function snapshotText(ledger: Ledger): string {
  return [...encodeSnapshot(ledger)].map((chunk) => Buffer.from(chunk).toString('hex')).join('/');
}
