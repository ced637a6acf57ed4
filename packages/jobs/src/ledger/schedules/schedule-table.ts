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
  /** Instants that the overlap has dropped, and absences of the leader after which none was run. */
  readonly skipped: number;
  /** Instants that wait for the end of the runs before. */
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

/** Columns grow by such pages: a larger array in place of one leaves its bytes to the allocator. */
const PAGE_SLOTS = 512;

interface SchedulePage {
  readonly wide: Float64Array;
  readonly narrow: Uint32Array;
}

/**
 * Schedules by name. Columns of numbers and shared templates in place of an object each: a hundred thousand
 * of them cost 15 MB, and the garbage collector does not visit their numbers.
 */
export class ScheduleTable {
  private readonly slots = new Map<string, number>();
  /** Undefined where the schedule of the slot was removed. */
  private readonly names: (string | undefined)[] = [];
  private readonly templates = new ScheduleTemplates();
  private readonly free: number[] = [];
  private readonly pages: SchedulePage[] = [];

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
    const { wide, narrow } = this.pageOf(slot);
    const row = slot % PAGE_SLOTS;
    WIDE.forEach((column, i) => {
      plan[column] = wide[row * WIDE.length + i] as number;
    });
    NARROW.forEach((column, i) => {
      plan[column] = narrow[row * NARROW_COLUMNS + i] as number;
    });
    return { name, template: this.templateOf(slot), ...(plan as SchedulePlan) }; // every column was read
  }

  /** In the order in which they were first set. */
  *values(): Generator<StoredSchedule> {
    for (const slot of this.slots.values()) yield this.at(slot) as StoredSchedule;
  }

  /** At most so many names of schedules that fit, those next behind `after`, in order. */
  namesAfter(after: string, max: number, fits: (template: ScheduleTemplate) => boolean): string[] {
    const names: string[] = [];
    // A page of a hundred thousand is found without sorting all of them.
    let bound: string | undefined;
    for (const [name, slot] of this.slots) {
      if (name <= after || (bound !== undefined && name > bound) || !fits(this.templateOf(slot))) continue;
      names.push(name);
      if (names.length < 2 * max) continue;
      names.sort();
      names.length = max;
      bound = names[max - 1];
    }
    return names.sort().slice(0, max);
  }

  /** Adds a schedule, or replaces the template of one. */
  set(name: string, template: ScheduleTemplate, plan: Partial<SchedulePlan>): number {
    const known = this.slots.get(name);
    template.policy.jobs += 1;
    const number = this.templates.take(template);
    if (known !== undefined) this.releaseTemplate(known);
    const slot = known ?? this.takeSlot(name);
    this.pageOf(slot).narrow[templateAt(slot)] = number;
    this.change(slot, known === undefined ? { ...NEW_PLAN, ...plan } : plan);
    return slot;
  }

  change(slot: number, plan: Partial<SchedulePlan>): void {
    const { wide, narrow } = this.pageOf(slot);
    const row = slot % PAGE_SLOTS;
    WIDE.forEach((column, i) => {
      const value = plan[column];
      if (value !== undefined) wide[row * WIDE.length + i] = value;
    });
    NARROW.forEach((column, i) => {
      const value = plan[column];
      if (value !== undefined) narrow[row * NARROW_COLUMNS + i] = value;
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
    return this.templates.get(this.templateNumber(slot));
  }

  private releaseTemplate(slot: number): void {
    this.templateOf(slot).policy.jobs -= 1;
    this.templates.release(this.templateNumber(slot));
  }

  private templateNumber(slot: number): number {
    return this.pageOf(slot).narrow[templateAt(slot)] as number;
  }

  private takeSlot(name: string): number {
    const slot = this.free.pop() ?? this.names.length;
    this.slots.set(name, slot);
    this.names[slot] = name;
    if (slot >= this.pages.length * PAGE_SLOTS)
      this.pages.push({
        wide: new Float64Array(PAGE_SLOTS * WIDE.length),
        narrow: new Uint32Array(PAGE_SLOTS * NARROW_COLUMNS),
      });
    return slot;
  }

  /** Of a slot that was taken. */
  private pageOf(slot: number): SchedulePage {
    return this.pages[Math.floor(slot / PAGE_SLOTS)] as SchedulePage;
  }
}

function templateAt(slot: number): number {
  return (slot % PAGE_SLOTS) * NARROW_COLUMNS + TEMPLATE;
}
