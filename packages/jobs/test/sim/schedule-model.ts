import type {
  ScheduleDropRecord,
  ScheduleFireRecord,
  SchedulePauseRecord,
  ScheduleSetRecord,
} from '#src/ledger/ledger-record.js';
import type { ScheduleRule } from '#src/ledger/schedules/schedule-rule.js';

type ScheduleRecord = ScheduleSetRecord | ScheduleDropRecord | SchedulePauseRecord | ScheduleFireRecord;

interface ModelSchedule {
  client: string;
  rule: ScheduleRule;
  nextAt: number;
  held: number;
  lastJob: number;
  /** The jobs of all its runs. */
  readonly runs: number[];
  paused: boolean;
  readonly ran: Set<number>;
}

/** A run that is later was missed. */
const ON_TIME_MS = 10_000;

interface Setup {
  /** A leader may forget a request after so long. */
  readonly keyWindowMs: number;
  isLive(job: number): boolean;
  problem(text: string): void;
}

/** Schedules by their records, and the rules that every run of one keeps. */
export class ScheduleModel {
  readonly schedules = new Map<string, ModelSchedule>();
  /** Jobs that schedules have submitted. */
  jobs = 0;
  /** Requests that were run, by schedule. */
  readonly requested = new Map<string, number>();
  /** When a request was last run. */
  private readonly requests = new Map<string, number>();
  private readonly setup: Setup;

  constructor(setup: Setup) {
    this.setup = setup;
  }

  /** Returns the client of the job that the record submits. */
  take(record: ScheduleRecord): string | undefined {
    const { name } = record;
    const known = this.schedules.get(name);
    if (record.type === 'schedule_set') {
      const { client, rule, nextAt } = record;
      const fresh = { held: 0, lastJob: 0, runs: [], paused: false, ran: new Set<number>() };
      this.schedules.set(name, { ...(known ?? fresh), client, rule, nextAt });
      return undefined;
    }
    if (known === undefined)
      return void this.setup.problem(`${record.type} of schedule ${name}, which is unknown`);
    if (record.type === 'schedule_drop') return void this.schedules.delete(name);
    if (record.type === 'schedule_fire') return this.fire(known, record);
    known.paused = record.paused;
    known.nextAt = record.nextAt;
    return undefined;
  }

  hasLiveRun(name: string): boolean {
    return this.schedules.get(name)?.runs.some((run) => this.setup.isLive(run)) === true;
  }

  private fire(schedule: ModelSchedule, record: ScheduleFireRecord): string | undefined {
    const { name, slotAt, nextAt, wallAt, held, replaced, jobs } = record;
    const [job] = jobs;
    // By its key, and not by its client: an earlier version does not record that.
    const isRequested = job !== undefined && job.key !== '';
    const isReleased = held < schedule.held;
    const isInstant = !isRequested && !isReleased;
    if (isInstant && nextAt <= slotAt) this.setup.problem(`schedule ${name} does not go on behind ${slotAt}`);
    if (isInstant && schedule.paused) this.setup.problem(`schedule ${name} runs while it is paused`);
    if (job !== undefined) {
      if (isInstant) this.checkInstant(schedule, name, slotAt, wallAt);
      if (!isRequested) this.checkOverlap(schedule, name, replaced);
      else this.request(name, job.key, record.at);
      schedule.lastJob = job.job;
      schedule.runs.push(job.job);
      this.jobs += 1;
    }
    schedule.nextAt = nextAt;
    schedule.held = held;
    return job === undefined ? undefined : schedule.client;
  }

  private request(name: string, key: string, at: number): void {
    const before = this.requests.get(key);
    this.requests.set(key, at);
    if (before === undefined) this.requested.set(name, (this.requested.get(name) ?? 0) + 1);
    else if (at < before + this.setup.keyWindowMs)
      this.setup.problem(`schedule ${name} was run twice by request ${key}`);
  }

  private checkInstant(
    { rule, ran, nextAt }: ModelSchedule,
    name: string,
    slotAt: number,
    wallAt: number,
  ): void {
    if (ran.has(slotAt)) this.setup.problem(`schedule ${name} runs its instant ${slotAt} twice`);
    ran.add(slotAt);
    if (slotAt % (rule.everyMs ?? 1) !== 0 || slotAt < nextAt)
      this.setup.problem(`schedule ${name} runs ${slotAt}, which is no instant of it from ${nextAt} on`);
    if (slotAt > wallAt) this.setup.problem(`schedule ${name} runs ${slotAt} at ${wallAt}`);
    if (rule.catchUpMax === 0 && wallAt - slotAt > ON_TIME_MS + (rule.jitterMs ?? 0))
      this.setup.problem(`schedule ${name} runs ${slotAt} at ${wallAt} and catches nothing up`);
  }

  private checkOverlap({ rule, runs }: ModelSchedule, name: string, replaced: number): void {
    const live = runs.filter((run) => this.setup.isLive(run));
    if (live.length > 0 && rule.overlap !== 'replace')
      this.setup.problem(`schedule ${name} runs beside jobs ${live}, its overlap is ${rule.overlap}`);
    // Other runs have been cancelled by records before this one.
    if (String(live) !== (replaced === 0 ? '' : String(replaced)))
      this.setup.problem(`schedule ${name} replaces job ${replaced}, its live runs are ${live}`);
  }
}
