import type { Client, JobDefinition, JobFilter, JobView, SubmitOptions } from '@troupe/jobs';
import type { JobModel, RecordModel } from './record-model.js';
import type { LeaderProbe } from './simulated-leaders.js';
import type { SimulatedMachine, Simulation } from './simulation.js';

interface Setup {
  readonly simulation: Simulation;
  readonly records: RecordModel;
  /** Names of workers. */
  readonly workers: readonly string[];
  /** Its schema is that of every job that may be edited. */
  readonly job: JobDefinition;
  /** A client redrives this job. */
  redriveCalled(jobs: readonly number[]): void;
}

const TAGS = ['red', 'green', 'blue'] as const;
const LINES = [0, 1, 2].map((line) => `line ${line}`);
/** As the cluster draws them. */
const KEYS = [0, 1, 2, 3, 4, 5].map((key) => `key${key}`);
const STATES = ['queued', 'running', 'done', 'dead', 'cancelled'] as const;
const ACTIONS_MAX = 8;
/** A page ends within the jobs of one filter. */
const PAGE = 5;
/** Streams and feeds are checked by their inputs. */
const EDITED = ['sim.flaky', 'sim.doomed', 'sim.final', 'sim.poison', 'sim.hung'];
/** Of a call after the faults: the leader may be away for a while. */
const HEAL_MS = 50_000;
/** Refusals that the state of the leader explains. */
const EXPECTED = ['ERR_WORKER_UNKNOWN', 'ERR_JOB_NOT_DEAD', 'ERR_JOB_UNKNOWN', 'ERR_CALL_UNSUPPORTED'];
const IS_EDITED = / edited$/;

/** The input with which a job was submitted, of one that may have been edited since. */
export function originalOf(input: string): string {
  return input.replace(IS_EDITED, '');
}

/** Operators that search, explain, edit dead letters and make workers quiet; and tags of the jobs. */
export class OperatorActs {
  private readonly setup: Setup;
  private readonly random: () => number;
  private readonly isOn: boolean;
  private readonly calls = new Map<object, SimulatedMachine>();

  constructor(setup: Setup) {
    this.setup = setup;
    this.random = setup.simulation.stream('operators');
    this.isOn = this.random() < 0.4;
  }

  get isSettled(): boolean {
    return this.calls.size === 0;
  }

  /** The options of one submit. */
  options(): SubmitOptions {
    if (!this.isOn || this.random() < 0.5) return {};
    return { tags: TAGS.filter(() => this.random() < 0.5) };
  }

  /** From now on, in milliseconds. */
  actionTimes(withinMs: number): number[] {
    const count = this.isOn ? Math.floor(this.random() * ACTIONS_MAX) : 0;
    return Array.from({ length: count }, () => this.random() * Math.max(0, withinMs));
  }

  clientCrashed(machine: SimulatedMachine): void {
    for (const [call, of] of this.calls) if (of === machine) this.calls.delete(call);
  }

  act(client: Client, machine: SimulatedMachine): Promise<void> {
    const kind = this.random();
    const worker = this.some(this.setup.workers);
    if (kind < 0.15) return this.call(machine, () => client.workers.quiet(worker));
    if (kind < 0.3) return this.call(machine, () => client.workers.resume(worker));
    if (kind < 0.5) return this.call(machine, () => this.editDead(client));
    if (kind < 0.75) return this.call(machine, () => this.explainSome(client));
    return this.call(machine, () => this.search(client, this.drawFilter()));
  }

  /** After the faults: no worker stays quiet. */
  async heal(client: Client): Promise<void> {
    for (const worker of this.setup.records.acts.quiet.keys())
      await client.workers.resume(worker, { withinMs: HEAL_MS });
  }

  /** Each search has all jobs that fit before it and after it. */
  checkSearches(client: Client, machine: SimulatedMachine, leader: LeaderProbe): void {
    const execs = new Set([...this.setup.records.jobs.values()].map(({ policy }) => policy.exec));
    const tenants = new Set([...this.setup.records.jobs.values()].map(({ client: of }) => tenantOf(of)));
    const filters: JobFilter[] = [
      ...TAGS.flatMap((tag) => [{ tag }, { tag, state: 'dead' as const }]),
      ...[...execs].flatMap((exec) => [{ exec }, { exec, state: 'done' as const }]),
      ...[...tenants].map((tenant) => ({ tenant })),
      ...STATES.map((state) => ({ state })),
      ...KEYS.map((key) => ({ key })),
      ...LINES.map((orderKey) => ({ orderKey, state: 'dead' as const })),
    ];
    void this.call(machine, async () => {
      for (const filter of filters) {
        const before = this.jobsOf(filter, leader);
        const found = new Set((await this.search(client, filter)).map(({ job }) => job));
        const after = this.jobsOf(filter, leader);
        for (const no of before)
          if (after.has(no) && !found.has(no))
            this.setup.simulation.problem(`a search by ${JSON.stringify(filter)} lacks job ${no}`);
      }
    });
  }

  /** The jobs of the leader that fit, by their records. */
  private jobsOf(filter: JobFilter, { ledger, recordTime }: LeaderProbe): Set<number> {
    const numbers = new Set<number>();
    for (const model of this.setup.records.jobs.values()) {
      const job = ledger.jobs.get(model.no);
      const isThere = job !== undefined && !ledger.isExpired(job, recordTime);
      if (isThere && fits(filter, model) && isInState(filter, model)) numbers.add(model.no);
    }
    return numbers;
  }

  /** All pages. A job that is found has the fields that never change. */
  private async search(client: Client, filter: JobFilter): Promise<readonly JobView[]> {
    const all: JobView[] = [];
    let after = 0;
    do {
      const { jobs, next } = await client.search(filter, { after, max: PAGE });
      all.push(...jobs);
      after = next;
    } while (after > 0);
    for (const { job, state } of all) {
      const model = this.setup.records.jobs.get(job);
      const hasState = filter.state === undefined || filter.state === state;
      if (model === undefined || !fits(filter, model) || !hasState)
        this.setup.simulation.problem(`a search by ${JSON.stringify(filter)} has job ${job}`);
    }
    return all;
  }

  private drawFilter(): JobFilter {
    const kind = this.random();
    if (kind < 0.4) return { tag: this.some(TAGS) };
    if (kind < 0.6) return { orderKey: this.some(LINES) };
    if (kind < 0.8) return { exec: this.some(EDITED), state: this.some(STATES) };
    return { state: this.some(STATES) };
  }

  private async editDead(client: Client): Promise<void> {
    const dead = await client.search({ exec: this.some(EDITED), state: 'dead' });
    const [view] = dead.jobs;
    const model = view === undefined ? undefined : this.setup.records.jobs.get(view.job);
    if (model === undefined) return;
    const input = `${originalOf(JSON.parse(model.payload) as string)} edited`;
    this.setup.redriveCalled([model.no]);
    await client.redriveEdited(this.setup.job, client.idOf(model.no), input);
  }

  /** Of a job whose end is settled by its records while it is asked for. */
  private async explainSome(client: Client): Promise<void> {
    const { jobs } = await client.search({ state: this.some(STATES) });
    const model = jobs.length === 0 ? undefined : this.setup.records.jobs.get(this.some(jobs).job);
    if (model === undefined) return;
    const before = { ...model };
    const { job, state, reasons } = await client.explain(client.idOf(model.no));
    if (job !== model.no) this.setup.simulation.problem(`job ${model.no} is explained as ${job}`);
    if (state !== 'queued' && reasons.length > 0)
      this.setup.simulation.problem(`job ${model.no} is ${state}, and has reasons why it waits`);
    const isSettled = before.endedAt > 0 && before.redrives === model.redrives;
    if (isSettled && model.state !== 'purged' && state !== model.state)
      this.setup.simulation.problem(`job ${model.no} is explained as ${state}, and is ${model.state}`);
  }

  private some<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)] as T; // no list here is empty
  }

  private async call(machine: SimulatedMachine, run: () => Promise<unknown>): Promise<void> {
    const call = {};
    this.calls.set(call, machine);
    try {
      await run();
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (!EXPECTED.includes(code ?? ''))
        this.setup.simulation.problem(`call of an operator: ${String(error)}`);
    } finally {
      this.calls.delete(call);
    }
  }
}

function fits({ tag, exec, tenant, key, orderKey }: JobFilter, model: JobModel): boolean {
  return (
    (tag === undefined || model.tags.includes(tag)) &&
    (exec === undefined || model.policy.exec === exec) &&
    (tenant === undefined || tenantOf(model.client) === tenant) &&
    (key === undefined || model.key === key) &&
    (orderKey === undefined || model.orderKey === orderKey)
  );
}

function isInState({ state }: JobFilter, model: JobModel): boolean {
  return state === undefined || model.state === state;
}

function tenantOf(client: string): string {
  return client.slice(0, Math.max(0, client.lastIndexOf('/')));
}
