import { type ScheduleTemplate, ScheduleTemplates } from './schedule-template.js';

/** The numbers of one schedule. Instants are milliseconds since 1970 of the wall clock; 0: none. */
export interface SchedulePlan {
  /** The next instant of its rule, without jitter. */
  readonly nextAt: number;
  /** The instant of its latest run. Never goes back. */
  readonly lastAt: number;
  /** The wall clock of its latest run; the record time is that of its job. */
  readonly lastWallAt: number;
  readonly lastJob: number;
  readonly runs: number;
  /** Instants that were not run, because the run before was not over, or the leader was away. */
  readonly skipped: number;
  /** Instants that wait for the end of the run before. */
  readonly held: number;
  /** 1: paused. */
  readonly paused: number;
}

export interface StoredSchedule extends SchedulePlan {
  readonly name: string;
  readonly template: ScheduleTemplate;
}

/** One row of each kind a slot. */
const WIDE = ['nextAt', 'lastAt', 'lastWallAt', 'lastJob'] as const satisfies readonly (keyof SchedulePlan)[];
const NARROW = ['runs', 'skipped', 'held', 'paused'] as const satisfies readonly (keyof SchedulePlan)[];
/** Behind the narrow columns: the number of the template. */
const TEMPLATE = NARROW.length;
const NARROW_COLUMNS = NARROW.length + 1;

const NEW_PLAN: SchedulePlan = {
  nextAt: 0,
  lastAt: 0,
  lastWallAt: 0,
  lastJob: 0,
  runs: 0,
  skipped: 0,
  held: 0,
  paused: 0,
};

const FIRST_SLOTS = 16;
const GROWTH = 1.2;

/**
 * Schedules by name. Columns of numbers and shared templates in place of an object each: a hundred thousand
 * of them cost 20 MB, and the garbage collector does not visit their numbers.
 */
export class ScheduleTable {
  private readonly slots = new Map<string, number>();
  /** Undefined where the schedule of the slot was removed. */
  private readonly names: (string | undefined)[] = [];
  private readonly templates = new ScheduleTemplates();
  private readonly free: number[] = [];
  private capacity = FIRST_SLOTS;
  private wide = new Float64Array(FIRST_SLOTS * WIDE.length);
  private narrow = new Uint32Array(FIRST_SLOTS * NARROW_COLUMNS);

  get size(): number {
    return this.slots.size;
  }

  slotOf(name: string): number | undefined {
    return this.slots.get(name);
  }

  get(name: string): StoredSchedule | undefined {
    const slot = this.slots.get(name);
    return slot === undefined ? undefined : this.at(slot);
  }

  /** Undefined where the schedule of the slot was removed. */
  at(slot: number): StoredSchedule | undefined {
    const name = this.names[slot];
    if (name === undefined) return undefined;
    const plan: Partial<Record<keyof SchedulePlan, number>> = {};
    WIDE.forEach((column, i) => {
      plan[column] = this.wide[slot * WIDE.length + i] as number;
    });
    NARROW.forEach((column, i) => {
      plan[column] = this.narrow[slot * NARROW_COLUMNS + i] as number;
    });
    return { name, template: this.templateOf(slot), ...(plan as SchedulePlan) }; // every column was read
  }

  /** In the order in which they were first set. */
  *values(): Generator<StoredSchedule> {
    for (const slot of this.slots.values()) yield this.at(slot) as StoredSchedule;
  }

  /** Adds a schedule, or replaces the template of one. */
  set(name: string, template: ScheduleTemplate, plan: Partial<SchedulePlan>): number {
    const known = this.slots.get(name);
    template.policy.jobs += 1;
    const number = this.templates.take(template);
    if (known !== undefined) this.releaseTemplate(known);
    const slot = known ?? this.takeSlot(name);
    this.narrow[slot * NARROW_COLUMNS + TEMPLATE] = number;
    this.change(slot, known === undefined ? { ...NEW_PLAN, ...plan } : plan);
    return slot;
  }

  change(slot: number, plan: Partial<SchedulePlan>): void {
    WIDE.forEach((column, i) => {
      const value = plan[column];
      if (value !== undefined) this.wide[slot * WIDE.length + i] = value;
    });
    NARROW.forEach((column, i) => {
      const value = plan[column];
      if (value !== undefined) this.narrow[slot * NARROW_COLUMNS + i] = value;
    });
  }

  remove(name: string): void {
    const slot = this.slots.get(name);
    if (slot === undefined) return;
    this.slots.delete(name);
    this.releaseTemplate(slot);
    this.names[slot] = undefined;
    this.free.push(slot);
  }

  private templateOf(slot: number): ScheduleTemplate {
    return this.templates.get(this.narrow[slot * NARROW_COLUMNS + TEMPLATE] as number);
  }

  private releaseTemplate(slot: number): void {
    this.templateOf(slot).policy.jobs -= 1;
    this.templates.release(this.narrow[slot * NARROW_COLUMNS + TEMPLATE] as number);
  }

  private takeSlot(name: string): number {
    const slot = this.free.pop() ?? this.names.length;
    this.slots.set(name, slot);
    this.names[slot] = name;
    if (slot >= this.capacity) this.grow();
    return slot;
  }

  private grow(): void {
    this.capacity = Math.ceil(this.capacity * GROWTH);
    const [wide, narrow] = [this.wide, this.narrow];
    this.wide = new Float64Array(this.capacity * WIDE.length);
    this.wide.set(wide);
    this.narrow = new Uint32Array(this.capacity * NARROW_COLUMNS);
    this.narrow.set(narrow);
  }
}
