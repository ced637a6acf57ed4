import { TimedHeap } from '../../collections/timed-heap.js';
import { identityOf } from '../../ledger/identity-usage.js';
import type { CancelRecord, ScheduleFireRecord, Submission } from '../../ledger/ledger-record.js';
import { replacedReason } from '../../ledger/schedules/earlier-runs.js';
import type { StoredSchedule } from '../../ledger/schedules/schedule-table.js';
import type { LeaderJob, LeaderParts, Session } from '../leader-context.js';
import { drainingQueue } from '../submit/draining-queue.js';
import { deadQuotaProblem, jobQuotaProblem } from '../submit/identity-quota.js';
import type { SubmitProcessor } from '../submit/submit-processor.js';
import { Numbering } from '../submit/uncommitted-jobs.js';
import { dueSlots, fireTime } from './due-slots.js';
import { Recurrences } from './recurrence.js';

/** No turn runs more schedules than a few milliseconds take. */
const FIRES_PER_TURN = 256;
/** Instants that one schedule may have waiting for the end of its run before. */
const HELD_MAX = 1_000;

/** How an instant ends. `wait`: it is looked at again with the next tick. */
type Decision = 'run' | 'replace' | 'skip' | 'hold' | 'wait';

/**
 * Runs schedules by the wall clock (ADR 0429). An instant, its job and the instant that follows are one
 * record; while it is on its way the schedule is not looked at.
 */
export class Scheduler {
  private readonly context: LeaderParts<
    | 'chunkCount'
    | 'clock'
    | 'diskRefusal'
    | 'draining'
    | 'effects'
    | 'ledger'
    | 'limits'
    | 'recordTime'
    | 'stage'
    | 'times'
    | 'uncommitted'
  >;
  private readonly submits: Pick<SubmitProcessor, 'addUncommitted' | 'committed'>;
  readonly recurrences = new Recurrences();
  /** Slots of the table by the time of their run. An entry of another time than the schedule's is stale. */
  private readonly times = new TimedHeap();
  /** Names of schedules with a record on its way to the disk. */
  private readonly pending = new Set<string>();
  /** Slots of schedules that could not run when they were due. */
  private postponed: number[] = [];
  /** Schedules with held instants, by a job that they wait for. */
  private readonly holding = new Map<number, string>();
  /** By identity, which counts its uncommitted jobs. */
  private readonly numberings = new Map<string, Numbering>();
  private runs = 0;
  private timerAt = Number.POSITIVE_INFINITY;

  constructor(context: Scheduler['context'], submits: Scheduler['submits']) {
    this.context = context;
    this.submits = submits;
    for (const { name } of context.ledger.schedules.values()) this.changed(name);
  }

  get wallNow(): number {
    return Math.floor(this.context.clock.wallNow());
  }

  isPending(name: string): boolean {
    return this.pending.has(name);
  }

  /** A record about the schedule is staged; `changed` ends it. */
  setPending(name: string): void {
    this.pending.add(name);
  }

  /** A record about the schedule is applied, or the leader has started. */
  changed(name: string): void {
    this.pending.delete(name);
    const schedule = this.context.ledger.schedules.get(name);
    const slot = this.context.ledger.schedules.slotOf(name);
    if (schedule === undefined || slot === undefined) return;
    this.arm(slot);
    if (schedule.held > 0) this.holding.set(schedule.lastJob, name);
  }

  /** Once a turn. True: there are more. */
  fireDue(): boolean {
    if (this.times.size === 0) return false;
    const wallAt = this.wallNow;
    for (let left = FIRES_PER_TURN; this.times.nextAt <= wallAt; left -= 1) {
      if (left === 0) return true;
      this.fireSlot(this.times.pop() as number, wallAt);
    }
    this.armTimer(wallAt);
    return false;
  }

  tick(): void {
    const { postponed } = this;
    this.postponed = [];
    // By its time, and not at once: the wall clock may have been set back since.
    for (const slot of postponed) this.arm(slot);
    for (const [job, name] of [...this.holding]) this.release(job, name);
  }

  timerEnded(): void {
    this.timerAt = Number.POSITIVE_INFINITY;
  }

  /** A job has ended: a schedule may have waited for it. */
  jobEnded(no: number): void {
    if (this.holding.size === 0) return;
    const name = this.holding.get(no);
    if (name !== undefined) this.release(no, name);
  }

  /** The record is applied. `job`: that of the run. */
  fired(record: ScheduleFireRecord): void {
    const [submission] = record.jobs;
    if (submission !== undefined) {
      const job = this.context.ledger.jobs.get(submission.job) as LeaderJob; // it was enqueued just now
      this.submits.committed(submission, job, undefined);
    }
    this.changed(record.name);
  }

  /** Runs a schedule now, beside the runs that go on; instants look at it from now on. */
  runNow(schedule: StoredSchedule, key: string, from: Session, tag: number, by: string): void {
    const wallAt = this.wallNow;
    const { nextAt, held } = schedule;
    this.stageFire(schedule, { slotAt: wallAt, nextAt, wallAt, held, replaced: 0 }, { key, from, tag, by });
  }

  /** False: its next job would be refused now. */
  hasRoom({ template }: StoredSchedule): boolean {
    const { context } = this;
    const { ledger, limits, uncommitted } = context;
    if (context.draining || context.diskRefusal !== undefined) return false;
    if (drainingQueue(context, template.policy) !== undefined) return false;
    const { length } = template.payload;
    if (ledger.counts.queued + ledger.counts.running + uncommitted.jobs >= limits.jobsMax) return false;
    if (ledger.liveBytes + uncommitted.bytes + length > limits.jobBytesMax) return false;
    const identity = identityOf(template.client);
    if (deadQuotaProblem(context, identity === '' ? undefined : identity, template.policy.exec) !== undefined)
      return false;
    if (identity === '') return true;
    return jobQuotaProblem(context, identity, uncommitted.loadOf(identity), length) === undefined;
  }

  private arm(slot: number): void {
    const schedule = this.context.ledger.schedules.at(slot);
    if (schedule?.paused === 0) this.times.push(fireTime(schedule), slot);
  }

  private fireSlot(slot: number, wallAt: number): void {
    const schedule = this.context.ledger.schedules.at(slot);
    if (schedule === undefined || schedule.paused === 1 || this.pending.has(schedule.name)) return;
    if (fireTime(schedule) > wallAt) return;
    const recurrence = this.recurrences.of(schedule.template.rule);
    const due = dueSlots(recurrence, schedule, wallAt);
    const [slotAt] = due.slots;
    const decision = slotAt === undefined ? 'skip' : this.decide(schedule);
    if (decision === 'wait') {
      this.postponed.push(slot);
      return;
    }
    const { held } = schedule;
    const plan = {
      slotAt: slotAt ?? schedule.nextAt,
      nextAt: due.slots[1] ?? due.nextAt,
      wallAt,
      held: decision === 'hold' ? held + 1 : held,
      replaced: decision === 'replace' ? this.replace(schedule) : 0,
    };
    if (decision === 'run' || decision === 'replace') this.stageFire(schedule, plan, {});
    else this.stage(schedule, { ...plan, jobs: [] }, undefined, 0);
  }

  private decide(schedule: StoredSchedule): Decision {
    const { overlap } = schedule.template.rule;
    const runs = this.runsOf(schedule);
    const live = runs.filter(isLive);
    const isOver = live.length === 0;
    if (runs.some(isBeingRedriven)) return 'wait';
    if (overlap === 'queue' && (!isOver || schedule.held > 0))
      return schedule.held < HELD_MAX ? 'hold' : 'skip';
    if (!isOver && overlap === 'skip') return 'skip';
    if (!this.hasRoom(schedule) || live.some(({ pending }) => pending)) return 'wait';
    return isOver ? 'run' : 'replace';
  }

  /** The jobs of its runs, as far as they are kept and may go on; the latest last. */
  private runsOf({ name, lastJob }: StoredSchedule): LeaderJob[] {
    const { jobs, earlierRuns } = this.context.ledger;
    return [...earlierRuns.of(name), lastJob].map((no) => jobs.get(no)).filter((job) => job !== undefined);
  }

  /**
   * The live run that the record of the next one cancels. Others go on beside it only after a request or a
   * redrive; their cancels are records before that one.
   */
  private replace(schedule: StoredSchedule): number {
    const live = this.runsOf(schedule).filter(isLive);
    const latest = live.pop() as LeaderJob; // a run is replaced only while one is live
    for (const job of live) this.stageCancel(job, replacedReason(schedule.name));
    return latest.no;
  }

  private stageCancel(job: LeaderJob, reason: string): void {
    job.pending = true;
    const chunks = this.context.chunkCount(job);
    const record: CancelRecord = { type: 'cancel', at: this.context.recordTime, job: job.no, reason };
    this.context.stage(chunks === undefined ? record : { ...record, chunks });
  }

  /** The job that held instants wait for has ended: the first of them is run, unless another run goes on. */
  private release(job: number, name: string): void {
    const { ledger } = this.context;
    const schedule = ledger.schedules.get(name);
    if (schedule === undefined || schedule.held === 0) return void this.holding.delete(job);
    const runs = this.runsOf(schedule);
    const live = runs.find(isLive);
    if (live !== undefined) {
      this.holding.delete(job);
      return void this.holding.set(live.no, name);
    }
    if (runs.some(isBeingRedriven) || this.pending.has(name) || !this.hasRoom(schedule)) return;
    this.holding.delete(job);
    const { nextAt, held, lastAt } = schedule;
    const wallAt = this.wallNow;
    this.stageFire(schedule, { slotAt: lastAt, nextAt, wallAt, held: held - 1, replaced: 0 }, {});
  }

  private stageFire(
    schedule: StoredSchedule,
    plan: Pick<ScheduleFireRecord, 'slotAt' | 'nextAt' | 'wallAt' | 'held' | 'replaced'>,
    { key = '', from, tag = 0, by }: { key?: string; from?: Session; tag?: number; by?: string },
  ): void {
    const { uncommitted, ledger } = this.context;
    const { policy, payload, client } = schedule.template;
    const replaced = plan.replaced === 0 ? undefined : ledger.jobs.get(plan.replaced);
    if (replaced !== undefined) replaced.pending = true;
    const job: Submission = { job: uncommitted.nextJob, policy: policy.no, dueAt: 0, key, payload };
    this.stage(schedule, { ...plan, jobs: [job], ...(by === undefined ? {} : { by }) }, from, tag);
    this.runs += 1;
    const { recordTime: at } = this.context;
    const numbering = this.numberingOf(identityOf(client));
    this.submits.addUncommitted({ numbering, client }, job, policy, this.runs, at);
  }

  private stage(
    { name }: StoredSchedule,
    fields: Omit<ScheduleFireRecord, 'type' | 'at' | 'name'>,
    from: Session | undefined,
    tag: number,
  ): void {
    this.pending.add(name);
    this.context.stage({ type: 'schedule_fire', at: this.context.recordTime, name, ...fields }, from, tag);
  }

  private numberingOf(identity: string): Numbering {
    const known = this.numberings.get(identity);
    if (known !== undefined) return known;
    const numbering = new Numbering(0, 0);
    if (identity !== '') numbering.load = this.context.uncommitted.loadOf(identity);
    this.numberings.set(identity, numbering);
    return numbering;
  }

  /** A run that comes before the next tick is exact to the millisecond. */
  private armTimer(wallAt: number): void {
    const ms = this.times.nextAt - wallAt;
    if (ms > this.context.times.tickMs || this.times.nextAt >= this.timerAt) return;
    this.timerAt = this.times.nextAt;
    this.context.effects.startScheduleTimer(ms);
  }
}

/** Or purged: it is known when the record is durable. */
function isBeingRedriven(job: LeaderJob): boolean {
  return job.state === 'dead' && job.pending;
}

function isLive(job: LeaderJob): boolean {
  return job.end === undefined;
}
