import type { Client, JobDefinition } from '@troupe/jobs';
import type { RecordModel } from './record-model.js';
import type { LeaderProbe } from './simulated-leaders.js';
import type { SimulatedMachine, Simulation } from './simulation.js';

interface Setup {
  readonly simulation: Simulation;
  readonly records: RecordModel;
  readonly job: JobDefinition;
  readonly deadMax: number;
}

const ACTIONS_MAX = 8;
/** Refusals that the state of the leader explains. */
const EXPECTED = ['ERR_SCHEDULE_UNKNOWN', 'ERR_LEADER_BUSY', 'ERR_SCHEDULES_FULL'];
const LOOK_MS = 100;
/** A schedule that is due for so long, with room for its job, should have run. */
const OVERDUE_MS = 2_000;

/** Clients that set, run, pause and remove schedules of their own. */
export class ScheduledJobs {
  private readonly setup: Setup;
  private readonly random: () => number;
  private readonly isOn: boolean;
  /** Runs that are requested at once: they go on beside each other. */
  private readonly burst: number;
  private readonly calls = new Map<object, SimulatedMachine>();
  /** Calls of `run`, by schedule. */
  private readonly runs = new Map<string, number>();

  constructor(setup: Setup) {
    this.setup = setup;
    this.random = setup.simulation.stream('schedules');
    this.isOn = this.random() < 0.4;
    this.burst = setup.simulation.stream('requested runs')() < 0.3 ? 6 : 1;
  }

  get isSettled(): boolean {
    return this.calls.size === 0;
  }

  /** From now on, in milliseconds. */
  actionTimes(withinMs: number): number[] {
    const count = this.isOn ? Math.floor(this.random() * ACTIONS_MAX) : 0;
    return Array.from({ length: count }, () => this.random() * Math.max(0, withinMs));
  }

  clientCrashed(machine: SimulatedMachine): void {
    for (const [call, of] of this.calls) if (of === machine) this.calls.delete(call);
  }

  async act(client: Client, machine: SimulatedMachine): Promise<void> {
    const name = `${machine.name}-${Math.floor(this.random() * 2)}`;
    const kind = this.random();
    const { schedules } = client;
    if (kind < 0.5) {
      await this.call(machine, () => schedules.add(name, this.setup.job, `scheduled ${name}`, this.rule()));
      if (this.burst === 1) return;
    }
    if (kind < 0.7) {
      this.runs.set(name, (this.runs.get(name) ?? 0) + this.burst);
      const requests = Array.from({ length: this.burst }, () =>
        this.call(machine, () => schedules.run(name)),
      );
      return void (await Promise.all(requests));
    }
    if (kind < 0.8) return this.call(machine, () => schedules.pause(name));
    if (kind < 0.9) return this.call(machine, () => schedules.resume(name));
    return this.call(machine, () => schedules.remove(name));
  }

  /** After the faults: no schedule keeps the leader busy for ever, nor does one that is set late. */
  pauseAll(clients: ReadonlyMap<SimulatedMachine, Client>): void {
    if (!this.isOn) return;
    const { simulation, records } = this.setup;
    if (this.isSettled)
      for (const [machine, client] of clients)
        for (const [name, { paused }] of records.schedules.schedules)
          if (name.startsWith(machine.name) && !paused)
            void this.call(machine, () => client.schedules.pause(name));
    simulation.at(simulation.now + LOOK_MS, undefined, () => this.pauseAll(clients));
  }

  *check(leader: LeaderProbe): Generator<string> {
    const { ledger } = leader;
    const { schedules, requested } = this.setup.records.schedules;
    for (const [name, count] of requested)
      if (count > (this.runs.get(name) ?? 0)) yield `schedule ${name} was run ${count} times by request`;
    if (ledger.schedules.size !== schedules.size)
      yield `${ledger.schedules.size} schedules, by their records ${schedules.size}`;
    for (const { name, nextAt, held, lastJob } of ledger.schedules.values()) {
      const model = schedules.get(name);
      if (model === undefined || model.nextAt !== nextAt || model.held !== held || model.lastJob !== lastJob)
        yield `schedule ${name} is not what its records say`;
    }
    yield* this.overdue(leader);
  }

  /** Schedules that wait although the leader has room for their jobs; it may have had none until now. */
  *overdue({ ledger, clock, diskLow }: LeaderProbe): Generator<string> {
    // A leader whose disk is low, or whose dead letters are too many, takes no jobs.
    if (diskLow || ledger.counts.dead >= this.setup.deadMax) return;
    const wallNow = clock.wallNow();
    for (const { name, nextAt, paused, held, template } of ledger.schedules.values()) {
      const runAt = nextAt + (template.rule.jitterMs ?? 0);
      if (paused === 0 && runAt < wallNow - OVERDUE_MS) yield `schedule ${name} is due since ${runAt}`;
      if (held > 0 && !this.setup.records.schedules.hasLiveRun(name))
        yield `schedule ${name} holds ${held} instants, and no run of it goes on`;
    }
  }

  private rule() {
    const overlaps = ['skip', 'queue', 'replace'] as const;
    const catchUps = ['none', 'last', 3] as const;
    return {
      everyMs: 200 + Math.floor(this.random() * 8) * 100,
      jitterMs: this.random() < 0.3 ? 50 : 0,
      overlap: overlaps[Math.floor(this.random() * 3)] ?? 'skip',
      catchUp: catchUps[Math.floor(this.random() * 3)] ?? 'last',
    };
  }

  private async call(machine: SimulatedMachine, run: () => Promise<unknown>): Promise<void> {
    const call = {};
    this.calls.set(call, machine);
    try {
      await run();
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (!EXPECTED.includes(code ?? ''))
        this.setup.simulation.problem(`call about a schedule: ${String(error)}`);
    } finally {
      this.calls.delete(call);
    }
  }
}
