import { SeededRandom } from '@troupe/core/testing';
import { connectClient } from '../checked-processes.js';
import {
  clientProcess,
  feederProcess,
  type Launch,
  leaderProcess,
  RoleProcess,
  RoleProcesses,
  workerProcess,
} from '../remote/role-process.js';
import { ChaosChecker } from './chaos-checker.js';
import { ChaosProxy, type NetworkFault } from './chaos-proxy.js';
import type { FakeClock } from './fake-clock.js';
import { FeedChecker } from './feed-checker.js';
import { keptJobs } from './kept-jobs.js';
import type { SmallDisk } from './small-disk.js';

export const KILLS = ['kill-leader', 'kill-worker', 'kill-client', 'kill-feeder'] as const;
export const FAULTS = [
  ...KILLS,
  'stop-leader',
  'stop-worker',
  'stop-client',
  'cut-network',
  'silent-network',
  'lost-answers',
  'second-leader',
  'two-leaders',
  'clock-step',
  'full-disk',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface ChaosOptions {
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** The folder of the log. */
  readonly dir: string;
  /** Where the folder is, for the fault `full-disk`. */
  readonly disk?: SmallDisk | undefined;
  /** The clock of the leaders, for the fault `clock-step`. */
  readonly clock?: FakeClock | undefined;
  /** The words that start a process in another pid namespace, for the fault `two-leaders`. */
  readonly namespace?: readonly string[] | undefined;
}

export interface ChaosReport {
  readonly injected: Readonly<Partial<Record<Fault, number>>>;
  readonly jobs: number;
  readonly acknowledged: number;
  /** Items of feeds that were accepted, and fed jobs that are done. */
  readonly fedItems: number;
  readonly fedJobs: number;
  readonly problems: readonly string[];
}

const PAUSE_MS_MAX = 2_000;
/** A leader that was fenced has to end at its next write. */
const FENCED_MS_MAX = 20_000;
const DAY_SECONDS = 86_400;
const SLOTS = 8;
/** Without a new event of a client for so long, no round can follow. */
const STUCK_MS = 120_000;
const MIB = 2 ** 20;
export const FREE_BYTES_SOFT = 80 * MIB;
/**
 * A small log with many snapshots; every result is kept until the end. No sequence of clock steps ends the window of
 * keys and numbers: after it a submit that is repeated is a new one.
 */
const LEADER_OPTIONS = {
  wal: { segmentBytes: 16 * MIB, snapshotEveryBytes: 32 * MIB, freeBytesSoft: FREE_BYTES_SOFT },
  limits: {
    keyWindowMs: 365 * DAY_SECONDS * 1_000,
    resultsMax: 100_000_000,
    resultsBytesMax: 1_024 * MIB,
  },
};

/**
 * Faults against real processes: a leader, two workers and two clients, one of each behind a proxy. Every
 * round waits until jobs are under way, injects one fault and repairs it. At the end every acknowledged
 * submit must be in the folder, with its result.
 */
export class ChaosCampaign implements AsyncDisposable {
  private readonly options: ChaosOptions;
  private readonly random: SeededRandom;
  private readonly processes = new RoleProcesses();
  private readonly checker = new ChaosChecker();
  private readonly feedChecker = new FeedChecker();
  private readonly injected: Partial<Record<Fault, number>> = {};
  private readonly workers: RoleProcess[] = [];
  private readonly clients: RoleProcess[] = [];
  private readonly proxy: ChaosProxy;
  private leader: RoleProcess;
  private feeder!: RoleProcess;
  private readonly port: number;
  private clientsStarted = 0;

  private constructor(options: ChaosOptions, leader: RoleProcess, port: number, proxy: ChaosProxy) {
    this.options = options;
    this.random = new SeededRandom(options.seed);
    this.leader = leader;
    this.port = port;
    this.proxy = proxy;
  }

  static async start(options: ChaosOptions): Promise<ChaosCampaign> {
    const leader = await leaderProcess(options.dir, 0, LEADER_OPTIONS, launchOf(options));
    const proxy = await ChaosProxy.before(leader.port);
    const campaign = new ChaosCampaign(options, leader, leader.port, proxy);
    await campaign.processes.add(Promise.resolve(leader));
    for (const at of [0, 1]) {
      campaign.workers.push(await campaign.startWorker(at));
      campaign.clients.push(await campaign.startClient(at));
    }
    campaign.feeder = await campaign.startFeeder();
    return campaign;
  }

  /** Injects that fault, or one that the seed chooses. */
  async round(chosen?: Fault): Promise<void> {
    await this.jobsUnderWay();
    const { faults } = this.options;
    const fault = chosen ?? (faults[this.random.between(0, faults.length - 1)] as Fault);
    this.injected[fault] = (this.injected[fault] ?? 0) + 1;
    await this.inject(fault);
  }

  /** Lets all jobs end, stops everything and compares the log with the answers. */
  async finish(): Promise<ChaosReport> {
    for (const client of this.clients) await this.stopClient(client);
    this.feeder.signal('SIGTERM');
    await this.feeder.exited;
    this.feedChecker.collect(this.feeder);
    await this.jobsEnded();
    for (const worker of this.workers) await worker.kill();
    this.leader.signal('SIGTERM');
    const code = await this.leader.exited;
    if (code !== 0) this.checker.problems.push(`the leader ended with ${code}`);
    const kept = await keptJobs(this.options.dir);
    const jobs = this.checker.check(kept);
    const fedJobs = this.feedChecker.check(kept);
    const { acknowledged } = this.checker;
    const problems = [...this.checker.problems, ...this.feedChecker.problems];
    const { acknowledged: fedItems } = this.feedChecker;
    return { injected: this.injected, jobs, acknowledged, fedItems, fedJobs, problems };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.processes[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }

  private async inject(fault: Fault): Promise<void> {
    const at = this.random.between(0, 1);
    switch (fault) {
      case 'kill-leader':
        await this.leader.kill();
        return this.restartLeader();
      case 'kill-worker':
        await this.workers[at]?.kill();
        this.workers[at] = await this.startWorker(at);
        return;
      case 'kill-client':
        await this.clients[at]?.kill();
        this.checker.collect(this.clients[at] as RoleProcess);
        this.clients[at] = await this.startClient(at);
        return;
      case 'kill-feeder':
        await this.feeder.kill();
        this.feedChecker.collect(this.feeder);
        this.feeder = await this.startFeeder();
        return;
      case 'stop-leader':
        return this.pause(this.leader);
      case 'stop-worker':
        return this.pause(this.workers[at] as RoleProcess);
      case 'stop-client':
        return this.pause(this.clients[at] as RoleProcess);
      case 'cut-network':
        return this.proxy.cut();
      case 'silent-network':
        return this.faultyNetwork({ kind: 'silence' });
      case 'lost-answers':
        return this.faultyNetwork({ kind: 'lost-answers', every: this.random.between(2, 20) });
      case 'second-leader':
        return this.startSecondLeader();
      case 'two-leaders':
        return this.runTwoLeaders();
      case 'clock-step':
        return this.stepClock();
      case 'full-disk':
        return this.fillDisk();
      default:
        return fault satisfies never;
    }
  }

  private async pause(role: RoleProcess): Promise<void> {
    role.signal('SIGSTOP');
    await this.wait();
    role.signal('SIGCONT');
  }

  /** The bytes of the time between are lost, so the connections end with it. */
  private async faultyNetwork(fault: NetworkFault): Promise<void> {
    this.proxy.fault = fault;
    await this.wait();
    this.proxy.fault = { kind: 'none' };
    this.proxy.cut();
  }

  private async startSecondLeader(): Promise<void> {
    const args = ['leader', this.options.dir, '0', JSON.stringify(LEADER_OPTIONS)];
    await using second = new RoleProcess(args, launchOf(this.options));
    const code = await second.exited;
    if (code === 0 || second.events.some(({ kind }) => kind === 'ready'))
      this.checker.problems.push(`a second leader on the folder ended with ${code}`);
  }

  /**
   * A leader in another container takes the folder and acknowledges submits, while clients submit to the first
   * one, which must end by itself. Then the second is killed and a third takes over.
   */
  private async runTwoLeaders(): Promise<void> {
    const { dir, namespace } = this.options;
    if (namespace === undefined) throw new Error('two-leaders needs a namespace');
    const first = this.leader;
    const launch = { ...launchOf(this.options), command: namespace };
    const second = await this.processes.add(leaderProcess(dir, 0, LEADER_OPTIONS, launch));
    this.clientsStarted += 1;
    const client = await this.processes.add(clientProcess(second.port, `c${this.clientsStarted}`));
    await client.event(({ kind }) => kind === 'acked');
    const timer = setTimeout(() => first.signal('SIGKILL'), FENCED_MS_MAX);
    const code = await first.exited;
    clearTimeout(timer);
    if (code === 'SIGKILL') this.checker.problems.push('a leader went on whose folder another has opened');
    await client.kill();
    this.checker.collect(client);
    await second.kill();
    await this.restartLeader();
  }

  /** Up to a day forward or back. A leader reads its wall clock at the start, so half of them start again. */
  private async stepClock(): Promise<void> {
    const { clock } = this.options;
    if (clock === undefined) throw new Error('clock-step needs a clock');
    const seconds = this.random.between(1, DAY_SECONDS);
    await clock.step(this.random.chance(0.5) ? seconds : -seconds);
    if (this.random.chance(0.5)) return this.wait();
    await this.leader.kill();
    await this.restartLeader();
  }

  /** Submits are refused meanwhile. A leader that cannot write its next segment ends, and is started again. */
  private async fillDisk(): Promise<void> {
    const { disk } = this.options;
    if (disk === undefined) throw new Error('full-disk needs a disk');
    await disk.fill();
    await this.wait();
    await disk.free();
    if (!this.leader.alive) await this.restartLeader();
  }

  private async restartLeader(): Promise<void> {
    const { dir } = this.options;
    this.leader = await this.processes.add(
      leaderProcess(dir, this.port, LEADER_OPTIONS, launchOf(this.options)),
    );
  }

  private startWorker(at: number): Promise<RoleProcess> {
    return this.processes.add(workerProcess(this.portOf(at), `w${at}`, SLOTS));
  }

  private startClient(at: number): Promise<RoleProcess> {
    this.clientsStarted += 1;
    return this.processes.add(clientProcess(this.portOf(at), `c${this.clientsStarted}`));
  }

  private startFeeder(): Promise<RoleProcess> {
    this.clientsStarted += 1;
    return this.processes.add(feederProcess(this.port, `f${this.clientsStarted}`));
  }

  /** The second of each kind is behind the proxy. */
  private portOf(at: number): number {
    return at === 0 ? this.port : this.proxy.port;
  }

  /** A fault proves nothing unless jobs are under way. */
  private async jobsUnderWay(): Promise<void> {
    const client = this.clients[0] as RoleProcess;
    const wanted = client.events.length + this.random.between(1, 40);
    let timer: NodeJS.Timeout | undefined;
    const stuck = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => void this.describe().then(reject, reject), STUCK_MS);
    });
    try {
      await Promise.race([client.event(() => client.events.length >= wanted), stuck]);
      const fed = this.feeder.events.length + this.random.between(1, 10);
      await Promise.race([this.feeder.event(() => this.feeder.events.length >= fed), stuck]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The state of the leader, for a campaign that cannot go on. */
  private async describe(): Promise<Error> {
    await using watcher = await connectClient({
      address: { port: this.port },
      name: 'watcher',
      withinMs: 10_000,
    });
    const { counts, refusing, workers } = await watcher.overview();
    return new Error(`no job has ended for ${STUCK_MS} ms: ${JSON.stringify({ counts, refusing, workers })}`);
  }

  private async stopClient(client: RoleProcess): Promise<void> {
    client.signal('SIGTERM');
    await client.exited;
    this.checker.collect(client);
  }

  /** Jobs of a killed client still run. */
  private async jobsEnded(): Promise<void> {
    await using watcher = await connectClient({ address: { port: this.port }, name: 'watcher' });
    for (;;) {
      const { counts } = await watcher.overview();
      if (counts.queued + counts.running === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    watcher.close();
  }

  private wait(): Promise<void> {
    const ms = this.random.between(50, PAUSE_MS_MAX);
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function launchOf({ clock }: ChaosOptions): Launch {
  return { env: clock?.env };
}
