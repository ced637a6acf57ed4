import type { ActorRef, AnyRef, Host } from '@troupe/core';
import type { Journal, OpenJournal } from '@troupe/jobs';
import type { WalHost } from '@troupe/wal';
import type { FaultyStorage } from '@troupe/wal/testing';
import type { JobQueues } from '#src/leader/dispatch/job-queues.js';
import { LeaderActor } from '#src/leader/leader-actor.js';
import type { LeaderLimits } from '#src/leader/options/leader-limits.js';
import type { Ledger } from '#src/ledger/ledger.js';
import { viewActors } from '#src/protocol/client/actors-view.js';
import { fileSpill } from '#src/spill/file-spill.js';
import type { OpenSpill, Spill } from '#src/spill/spill.js';
import type { LeaderDisk, LeaderStorage } from './leader-disk.js';
import type { ObservedLeader } from './message-observer.js';
import { isRaised, type LeaderVersion, type OtherVersions } from './other-versions.js';
import type { RecordModel } from './record-model.js';
import type { SimulatedNetwork } from './simulated-network.js';
import type { SimulatedMachine, Simulation } from './simulation.js';
import type { HeldStream } from './stream-readings.js';

const times = { tickMs: 20, heartbeatMs: 50, resumeGraceMs: 100, reclaimMs: 400, runGraceMs: 150 };

const NOT_YET = Number.POSITIVE_INFINITY;

/** The session of one worker. */
export interface FleetSession {
  readonly worker: string;
  /** Worker and incarnation. */
  readonly name: string;
  readonly open: boolean;
  readonly liveness: string;
  readonly reportedOverrun: number;
  /** Behind the port that loads stored inputs. */
  readonly port: { readonly port: { readonly ref: AnyRef } };
}

/** The state of a leader that the checker reads. */
export interface LeaderProbe {
  readonly ledger: Ledger;
  readonly recordTime: number;
  readonly clock: { wallNow(): number };
  readonly wallStepMs: number;
  readonly diskLow: boolean;
  readonly journalWriter: { readonly isIdle: boolean };
  readonly streams: { readonly streams: ReadonlyMap<number, HeldStream> };
  readonly fleet: { readonly sessions: ReadonlyMap<string, FleetSession> };
  readonly queues: JobQueues;
}

/** One process of a leader. */
interface LeaderProcess {
  readonly machine: SimulatedMachine;
  storage: LeaderStorage | undefined;
  ref: ActorRef<typeof LeaderActor> | undefined;
  /** Infinity: not yet. */
  openedAt: number;
  /** Another process was up at some time of its life, so it may be fenced. */
  hasRival: boolean;
  version: LeaderVersion;
  /** The files of its streams cannot be opened. */
  hasSpillError: boolean;
}

export interface LeadersSetup {
  readonly disk: LeaderDisk;
  readonly network: SimulatedNetwork;
  readonly records: RecordModel;
  readonly random: () => number;
  readonly limits: Partial<LeaderLimits>;
  /** No process sees the lock of another, as in two containers with one volume. */
  readonly ignoresLock: boolean;
  /** It does not exit when its log has failed. */
  readonly ignoresFatal: boolean;
  readonly versions: OtherVersions;
  /** No more faults: only leaders that can read the folder are started. */
  isHealing(): boolean;
  journalOn(storage: FaultyStorage, host: WalHost, version: LeaderVersion): OpenJournal;
}

/** The process of a leader, and at times a second one on the same directory. */
export class SimulatedLeaders {
  /** Ends of processes, for whatever reason. */
  crashes = 0;
  /** Starts that a leader refused, and exits of leaders. */
  refusals = 0;
  exits = 0;
  /** Processes that ended because another had opened the directory. */
  fenced = 0;
  /** Starts on a folder of a later version, which were refused. */
  versionRefusals = 0;
  private readonly simulation: Simulation;
  private readonly setup: LeadersSetup;
  private readonly processes: readonly LeaderProcess[];

  constructor(simulation: Simulation, setup: LeadersSetup) {
    this.simulation = simulation;
    this.setup = setup;
    this.processes = ['leader', 'second-leader'].map((name) => ({
      machine: simulation.machine(name),
      storage: undefined,
      ref: undefined,
      openedAt: NOT_YET,
      hasRival: false,
      version: 'own' as const,
      hasSpillError: false,
    }));
  }

  /** Starts the process that is down; the first, if both are. */
  start(): void {
    const process = this.processes.find(({ machine }) => !machine.alive);
    if (process !== undefined) this.startProcess(process);
  }

  get machines(): SimulatedMachine[] {
    return this.up.map(({ machine }) => machine);
  }

  /** The machine loses power, and with it every leader on it. */
  cutPower(downMs: number): void {
    if (this.up.length === 0) return;
    for (const process of this.up) this.ended(process);
    this.setup.disk.cutPower(this.setup.random);
    this.startLater(downMs);
  }

  /** The leader that owns the directory. */
  get current(): LeaderProbe | undefined {
    const newest = this.up.filter(hasOpened).sort((a, b) => claimOf(b) - claimOf(a))[0];
    return probeOf(newest?.ref);
  }

  /** Whether one leader has been up, with its log open and without a pause, for so long. */
  hasRunFor(ms: number): boolean {
    const since = this.simulation.now - ms;
    const [process] = this.up;
    if (process === undefined) return false;
    return process.openedAt < since && process.machine.pausedUntil < since;
  }

  /** The leader on a machine. */
  on(machine: SimulatedMachine): LeaderProbe | undefined {
    return probeOf(this.processes.find((one) => one.machine === machine)?.ref);
  }

  /** The leader on a machine as it sends a message. */
  observed(machine: SimulatedMachine): ObservedLeader {
    const process = this.processes.find((one) => one.machine === machine);
    const claim = process === undefined ? 0 : claimOf(process);
    const isFenced = this.up.some((one) => hasOpened(one) && claimOf(one) > claim);
    return { recordTime: probeOf(process?.ref)?.recordTime ?? 0, isFenced };
  }

  private get up(): LeaderProcess[] {
    return this.processes.filter(({ machine }) => machine.alive);
  }

  private startProcess(process: LeaderProcess): void {
    const { disk, records, network, limits, ignoresLock, journalOn } = this.setup;
    const { machine } = process;
    const host = machine.boot();
    process.storage = disk.open(machine, { ignoresLock });
    process.openedAt = NOT_YET;
    process.hasRival = false;
    process.hasSpillError = false;
    if (this.up.length > 1) for (const one of this.up) one.hasRival = true;
    const { incarnation } = machine;
    const ifUp = (run: () => void): void => {
      if (machine.incarnation === incarnation) run();
    };
    const walHost = walHostOn(host, (code) =>
      ifUp(() => this.exited(process, `the log wants to exit with ${code}`, code === FENCED)),
    );
    const { versions, isHealing } = this.setup;
    process.version = versions.draw({ isHealing: isHealing(), disk: disk.current });
    const watched = records.watch(journalOn(process.storage.storage, walHost, process.version));
    const open = versions.open(process.version, watched);
    const ref = machine.system.spawn(LeaderActor, {
      args: {
        host,
        times,
        limits,
        openJournal: this.checkStart(process, open),
        openSpill: this.checkSpill(process, fileSpill(process.storage.storage)),
        viewActors: () => viewActors(machine.system),
        onFatal: (error) => ifUp(() => this.exited(process, error.message, isFenced(error))),
      },
    });
    process.ref = ref;
    network.leaderUp(machine, ref);
  }

  /** A start is refused only where the disk has failed or is damaged, or another process has started. */
  private checkStart(process: LeaderProcess, open: OpenJournal): OpenJournal {
    return (reader, done, owner) => {
      const { incarnation } = process.machine;
      const { versions, disk } = this.setup;
      const { version } = process;
      const mustRefuse = versions.mustRefuse(version, disk.current);
      const before = mustRefuse && isRaised(disk.current) ? disk.content() : undefined;
      const opened = (error: Error | null, journal?: Journal): void => {
        if (process.machine.incarnation !== incarnation) return;
        if (journal !== undefined) {
          if (mustRefuse)
            this.simulation.problem('a leader starts on a folder that only a later version can read');
          this.setup.disk.leaderStarted();
          process.openedAt = this.simulation.now;
          return done(null, this.endingStart(process, journal));
        }
        if (codeOf(error) === 'ERR_LEDGER_VERSION' && versions.mayRefuse(version, disk.current)) {
          if (before !== undefined && before !== disk.content())
            this.simulation.problem('a leader has changed a folder of a later version');
          this.versionRefusals += 1;
          return this.exit(process);
        }
        const isRefusedForRival = process.hasRival && error !== null && (isFenced(error) || isLocked(error));
        if (!isRefusedForRival && process.storage?.isExcused !== true)
          return this.simulation.problem(`a leader does not start: ${error?.message ?? 'no reason'}`);
        this.refusals += 1;
        if (isRefusedForRival) this.fenced += 1;
        else this.setup.disk.repair();
        this.exit(process);
      };
      open(reader, opened, owner);
    };
  }

  private checkSpill(process: LeaderProcess, open: OpenSpill): OpenSpill {
    return (named, found, done, owner) => {
      const opened = (error: Error | null, spill?: Spill): void => {
        process.hasSpillError = error !== null;
        done(error, spill);
      };
      open(named, found, opened, owner);
    };
  }

  /** Without the files of durable streams a leader closes its journal again, and its process ends. */
  private endingStart(process: LeaderProcess, journal: Journal): Journal {
    const close: Journal['close'] = (closed) => {
      if (!process.hasSpillError) return journal.close(closed);
      this.refusals += 1;
      this.setup.disk.repair();
      this.exit(process);
    };
    return Object.assign(Object.create(journal) as Journal, { close });
  }

  /** A leader exits at once when its disk fails or another process has opened its directory. */
  private exited(process: LeaderProcess, why: string, wasFenced: boolean): void {
    if (this.setup.ignoresFatal) return;
    const isExcused = (wasFenced && process.hasRival) || process.storage?.isExcused === true;
    if (!isExcused) return this.simulation.problem(`${process.machine.name}: ${why}`);
    this.exits += 1;
    if (wasFenced) this.fenced += 1;
    this.exit(process);
  }

  /** With another leader up it is started again only at times: then that one is fenced in turn. */
  private exit(process: LeaderProcess): void {
    this.ended(process);
    if (process.storage !== undefined) this.setup.disk.leaderExited(process.storage);
    if (this.up.length === 0 || this.setup.random() < 0.3) this.startLater(200);
  }

  private ended(process: LeaderProcess): void {
    this.crashes += 1;
    process.machine.crash();
    this.setup.network.leaderDown(process.machine);
  }

  private startLater(ms: number): void {
    this.simulation.at(this.simulation.now + ms, undefined, () => this.start());
  }
}

function hasOpened({ openedAt }: LeaderProcess): boolean {
  return openedAt < NOT_YET;
}

function claimOf({ storage }: LeaderProcess): number {
  return storage?.claimNo ?? 0;
}

/** The exit code of a log whose directory another process has opened. */
const FENCED = 73;

function walHostOn(host: Host, exit: (code: number) => void): WalHost {
  return {
    now: () => host.now(),
    wallNow: () => host.wallNow(),
    random: () => host.random(),
    setTimer: (ms, run) => host.setTimer(ms, run),
    clearTimer: (timer) => (timer as { cancel(): void } | undefined)?.cancel(),
    defer: (run) => host.soon(run),
    exit,
  };
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}

function isFenced(error: Error): boolean {
  return codeOf(error) === 'ERR_WAL_FENCED' || (error.cause instanceof Error && isFenced(error.cause));
}

function isLocked(error: Error): boolean {
  return codeOf(error) === 'ERR_WAL_LOCKED' || (error.cause instanceof Error && isLocked(error.cause));
}

/** Reads the live state from outside; the leader's own messages show only parts of it. */
function probeOf(ref: ActorRef<typeof LeaderActor> | undefined): LeaderProbe | undefined {
  const cell = (ref as unknown as { cell: { state: { leader: LeaderProbe | undefined } } } | undefined)?.cell;
  return cell?.state.leader;
}
