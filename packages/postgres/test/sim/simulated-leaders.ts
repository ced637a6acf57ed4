import { createTestSystem, type ManualHost, SeededRandom, type TestSystem } from '@troupe/core/testing';
import type { JournalOwner } from '@troupe/jobs/journal';
import { decodeBatch } from '#src/log/batch-codec.js';
import type { LogSettings, OpenedLog } from '#src/log/open-log.js';
import { openLog } from '#src/log/open-log.js';
import { TakenRows } from '#src/outbox/taken-rows.js';
import { SpillTable } from '#src/spill/spill-table.js';
import { type PlantedFault, SimulatedDatabase } from './simulated-database.js';

const LEASE_MS = 1_000;
const LEADERS = 2;
const RUN_MS = 30_000;
const CALM_MS = 15_000;
const STEP_MS = 20;
const CUT_MS = 2_000;

/** One process: a system of its own on the clock of the world. */
interface LeaderProcess {
  readonly world: TestSystem;
  isAlive: boolean;
  cutUntil: number;
  opened: OpenedLog | undefined;
  /** Entries without an answer. */
  pending: number;
  /** The entries that it has read and appended, in order: the state of a leader. */
  readonly state: string[];
}

export interface SimulationReport {
  readonly problems: readonly string[];
  readonly durable: number;
  readonly takeOvers: number;
}

/**
 * Two leaders on one simulated database, with the production code of the log: kills, cuts, late and lost answers.
 * Every entry that was answered as durable is in the log once, at its position; at a take-over no other
 * leader believes in its lease; the state of a leader is the log; in the end one leads and appends.
 */
export class SimulatedLeaders {
  private readonly random: SeededRandom;
  private readonly host: ManualHost;
  private readonly root: TestSystem;
  private readonly database: SimulatedDatabase;
  private readonly problems: string[] = [];
  private readonly durable = new Map<string, number>();
  private readonly processes: LeaderProcess[] = [];
  private entries = 0;
  private takeOvers = 0;
  private isCalm = false;

  constructor(seed: number, fault?: PlantedFault) {
    this.random = new SeededRandom(seed);
    this.root = createTestSystem({ seed });
    this.host = this.root.host;
    this.database = new SimulatedDatabase(this.host, () => this.random.next(), fault);
    this.database.onTakenOver = (leaseId) => this.checkLeases(leaseId);
  }

  async run(): Promise<SimulationReport> {
    for (let at = 0; at < LEADERS; at += 1) this.start(at);
    await this.pass(RUN_MS, 0.004);
    this.isCalm = true;
    this.database.calm();
    const before = this.durable.size;
    await this.pass(CALM_MS, 0);
    if (this.durable.size === before) this.problems.push('nothing is appended when all is well again');
    this.checkLog();
    for (const process of this.processes) await this.kill(process);
    return { problems: this.problems, durable: this.durable.size, takeOvers: this.takeOvers };
  }

  private async pass(ms: number, faultChance: number): Promise<void> {
    for (let passed = 0; passed < ms && this.problems.length === 0; passed += STEP_MS) {
      await this.root.advance(STEP_MS);
      this.database.closeOfEnded();
      for (const [at, process] of this.processes.entries()) {
        await process.world.settle();
        if (process.isAlive && this.random.next() < faultChance) await this.kill(process);
        if (this.random.next() < faultChance) process.cutUntil = this.host.now() + CUT_MS;
        if (!process.isAlive && (this.isCalm || this.random.next() < 0.05)) this.start(at);
        else this.write(process);
      }
    }
  }

  private start(at: number): void {
    const world = createTestSystem({ host: this.host });
    const process: LeaderProcess = {
      world,
      isAlive: true,
      cutUntil: 0,
      opened: undefined,
      pending: 0,
      state: [],
    };
    this.processes[at] = process;
    const database: LogSettings['database'] = {
      url: '',
      schema: 'troupe',
      connect: ({ onClosed = () => undefined }) => this.database.connect(process, onClosed),
    };
    const settings: LogSettings = {
      database,
      name: { leader: `leader-${at}`, addresses: '' },
      leaseMs: LEASE_MS,
      snapshotBytes: Number.MAX_SAFE_INTEGER,
      standby: true,
      onStandby: () => undefined,
      rows: new TakenRows(),
      spill: new SpillTable(database, this.host),
      host: this.host,
    };
    const reader = {
      format: { name: 'troupe-ledger', major: 1, minor: 0, since: '0.1.0' },
      snapshot: () => undefined,
      entry: (bytes: Uint8Array) => void process.state.push(Buffer.from(bytes).toString()),
    };
    openLog(settings, reader, world.system as unknown as JournalOwner).then(
      (opened) => this.opened(process, opened),
      (error: Error & { code?: string }) => {
        if (
          process.isAlive &&
          !/^(CONNECT|ERR_JOURNAL_DEPOSED|ERR_POSTGRES_UNREACHABLE)/.test(error.code ?? '')
        )
          this.problems.push(`opening failed: ${error.message}`);
        process.isAlive = false;
      },
    );
  }

  private opened(process: LeaderProcess, opened: OpenedLog): void {
    if (!process.isAlive) return;
    process.opened = opened;
    opened.log.tell.watch({
      tell: {
        logChanged: () => undefined,
        logLost: () => {
          process.isAlive = false;
        },
      },
    });
  }

  private write(process: LeaderProcess): void {
    if (process.opened === undefined || !process.isAlive || process.pending >= 3) return;
    this.entries += 1;
    const text = `entry ${this.entries}`;
    process.pending += 1;
    process.opened.log.tell.write({
      entries: [Buffer.from(text)],
      to: {
        tell: {
          durable: ({ error, firstLsn }) => {
            process.pending -= 1;
            if (error !== null || !process.isAlive) return;
            process.state.push(text);
            if (process.state.length !== firstLsn)
              this.problems.push(
                `${text} has position ${firstLsn}, its leader knows ${process.state.length}`,
              );
            // Nothing is answered by a leader that does not hold its lease.
            if (process.opened?.hold.isHeld === true) this.durable.set(text, firstLsn);
          },
        },
      },
    });
  }

  private async kill(process: LeaderProcess): Promise<void> {
    process.isAlive = false;
    void process.world.system.shutdown();
    await process.world.settle();
  }

  /** The lease of the leader of before has ended by its own clock, too. */
  private checkLeases(leaseId: number): void {
    this.takeOvers += 1;
    for (const { isAlive, opened } of this.processes)
      if (isAlive && opened?.hold.isHeld === true)
        this.problems.push(`a leader believes in its lease when lease ${leaseId} is taken`);
  }

  private checkLog(): void {
    const log: string[] = [];
    for (const [lsn, bytes] of [...this.database.batches].sort(([a], [b]) => a - b)) {
      if (lsn !== log.length + 1) this.problems.push(`the log has a hole before ${lsn}`);
      for (const entry of decodeBatch(bytes)) log.push(entry.toString());
    }
    if (new Set(log).size !== log.length) this.problems.push('an entry is in the log twice');
    for (const [text, lsn] of this.durable)
      if (log[lsn - 1] !== text)
        this.problems.push(`${text} was answered at ${lsn}, where ${log[lsn - 1]} is`);
    for (const { isAlive, opened, state } of this.processes)
      if (isAlive && opened?.hold.isHeld === true && state.some((text, at) => log[at] !== text))
        this.problems.push('the state of the leader is not the log');
  }
}
