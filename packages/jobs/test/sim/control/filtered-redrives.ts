import type { Client } from '@troupe/jobs';
import type { RecordModel } from '../record-model.js';
import type { LeaderProbe } from '../simulated-leaders.js';
import type { SimulatedMachine, Simulation } from '../simulation.js';
import { OpenCalls } from './open-calls.js';

interface Setup {
  readonly simulation: Simulation;
  readonly records: RecordModel;
  leader(): LeaderProbe | undefined;
  /** A client redrives these jobs. */
  redriveCalled(jobs: readonly number[]): void;
}

/** One redrive by filter, as leaders see its requests. */
interface Redrive {
  readonly perSecond: number | undefined;
  readonly isDry: boolean;
  readonly max: number | undefined;
  readonly jobs: Set<number>;
  /** The earliest time of the next request. */
  nextAt: number;
}

const REDRIVES_MAX = 5;
/** Of a call after the faults: the leader may be away for a while. */
const HEAL_MS = 50_000;
const EXECS = ['sim.flaky', 'sim.doomed', 'sim.final', 'sim.poison', 'sim.hung', 'sim.batched'];

/** An operator with a client of its own that redrives dead letters by filter, one redrive after the other. */
export class FilteredRedrives {
  readonly isOn: boolean;
  private readonly setup: Setup;
  private readonly random: () => number;
  private readonly calls: OpenCalls;
  private readonly known = new Set<string>();
  private current: Redrive | undefined = undefined;

  constructor(setup: Setup, isGiven: boolean) {
    this.setup = setup;
    this.random = setup.simulation.stream('redrives');
    this.isOn = this.random() < 0.3 || isGiven;
    this.calls = new OpenCalls(setup.simulation, ['ERR_JOB_NOT_DEAD', 'ERR_CALL_UNSUPPORTED']);
  }

  get isSettled(): boolean {
    return this.calls.isSettled;
  }

  /** From now on, in milliseconds. */
  actionTimes(withinMs: number): number[] {
    const count = 1 + Math.floor(this.random() * REDRIVES_MAX);
    return Array.from({ length: count }, () => this.random() * withinMs);
  }

  act(client: Client, machine: SimulatedMachine): void {
    if (this.current !== undefined) return;
    const redrive: Redrive = {
      perSecond: this.random() < 0.7 ? 2 + Math.floor(this.random() * 40) : undefined,
      isDry: this.random() < 0.2,
      max: this.random() < 0.2 ? 1 + Math.floor(this.random() * 3) : undefined,
      jobs: new Set(),
      nextAt: 0,
    };
    this.current = redrive;
    void this.calls.call(machine, () => this.run(client, redrive));
  }

  /** A leader gets the request; one that is repeated is the same. */
  requested(call: string, jobs: readonly number[]): void {
    const redrive = this.current;
    if (redrive === undefined || this.known.has(call)) return;
    this.known.add(call);
    this.setup.redriveCalled(jobs);
    const { simulation } = this.setup;
    const { perSecond, isDry, max = Number.POSITIVE_INFINITY } = redrive;
    if (isDry) simulation.problem('a redrive that changes nothing is requested');
    if (simulation.now < redrive.nextAt)
      simulation.problem(`${jobs.length} jobs are redriven ${redrive.nextAt - simulation.now} ms too early`);
    for (const job of jobs) {
      if (redrive.jobs.has(job)) simulation.problem(`job ${job} is redriven twice by one redrive`);
      redrive.jobs.add(job);
    }
    if (redrive.jobs.size > max)
      simulation.problem(`${redrive.jobs.size} jobs are redriven, ${max} are allowed`);
    if (perSecond !== undefined) redrive.nextAt = simulation.now + (jobs.length * 1_000) / perSecond;
  }

  private async run(client: Client, redrive: Redrive): Promise<void> {
    const exec = this.random() < 0.5 ? undefined : EXECS[Math.floor(this.random() * EXECS.length)];
    const { perSecond, isDry: dryRun, max } = redrive;
    const before = this.dead(exec);
    try {
      const filter = exec === undefined ? { group: 'main' } : { exec };
      const options = { perSecond, dryRun, max, withinMs: HEAL_MS };
      const { matched, redriven } = await client.redriveWhere(filter, options);
      this.checkReport(redrive, matched, redriven);
      const after = this.dead(exec);
      const same = [...before].filter(([no, attempt]) => after.get(no) === attempt).map(([no]) => no);
      if (max === undefined) this.checkComplete(redrive, matched, same);
    } finally {
      this.current = undefined;
    }
  }

  private checkReport({ jobs, isDry }: Redrive, matched: number, redriven: number): void {
    const { simulation } = this.setup;
    if (redriven > jobs.size || jobs.size > matched || (isDry && redriven > 0))
      simulation.problem(`a redrive reports ${redriven} of ${matched} jobs, it has requested ${jobs.size}`);
  }

  /** `same`: dead since before the redrive, by the same attempt. */
  private checkComplete({ isDry }: Redrive, matched: number, same: readonly number[]): void {
    const { simulation } = this.setup;
    if (isDry && matched < same.length)
      simulation.problem(`a redrive has found ${matched} dead letters, there are ${same.length}`);
    if (!isDry && same.length > 0) simulation.problem(`a redrive has left job ${same.join()}`);
  }

  /** The attempts of dead letters that no record is about to change. */
  private dead(exec: string | undefined): Map<number, number> {
    const leader = this.setup.leader();
    const dead = new Map<number, number>();
    if (leader === undefined) return dead;
    for (const { no, policy } of this.setup.records.jobs.values()) {
      const job = leader.ledger.jobs.get(no);
      const fits = exec === undefined ? policy.group === 'main' : policy.exec === exec;
      // A job whose feed has lost its beginning stays as it is.
      if (!fits || job?.state !== 'dead' || !EXECS.includes(policy.exec)) continue;
      const isPending = (job as { readonly pending?: boolean }).pending === true;
      if (!isPending && !leader.ledger.isExpired(job, leader.recordTime)) dead.set(no, job.attempt);
    }
    return dead;
  }
}
