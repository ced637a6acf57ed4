// Hot path: `add` runs once per job.

/** Lists that one call of `sweep` looks at. */
const SWEPT_AT_ONCE = 64;

/**
 * For each value, the pages of the job table in which some job has it, in order. Pages and not jobs: a value
 * that all jobs share costs one number for 128 of them, and one that a single job has costs one number. A
 * page that the table has dropped is removed when its list is swept.
 */
export class PageIndex {
  /** One page is a number of its own: most order keys are in one. */
  private readonly lists = new Map<string, number | number[]>();
  private swept: Iterator<[string, number | number[]]>;

  constructor() {
    this.swept = this.lists.entries();
  }

  get size(): number {
    return this.lists.size;
  }

  /** Pages come in the order of their numbers. */
  add(value: string, page: number): void {
    const list = this.lists.get(value);
    if (list === undefined || list === page) {
      if (list === undefined) this.lists.set(value, page);
      return;
    }
    if (typeof list === 'number') this.lists.set(value, [list, page]);
    else if (list[list.length - 1] !== page) list.push(page);
  }

  /** The pages of a value. */
  of(value: string): readonly number[] {
    const list = this.lists.get(value);
    return list === undefined ? [] : typeof list === 'number' ? [list] : list;
  }

  /** Removes dropped pages of some lists, in turns. */
  sweep(exists: (page: number) => boolean): void {
    for (let left = Math.min(SWEPT_AT_ONCE, this.lists.size); left > 0; left -= 1) {
      const next = this.swept.next();
      if (next.done === true) {
        this.swept = this.lists.entries();
        continue;
      }
      const [value, list] = next.value;
      if (typeof list === 'number') {
        if (!exists(list)) this.lists.delete(value);
        continue;
      }
      // Pages are dropped from the front, more or less.
      if (exists(list[0] as number)) continue;
      const kept = list.filter(exists);
      if (kept.length === 0) this.lists.delete(value);
      else this.lists.set(value, kept);
    }
  }
}
