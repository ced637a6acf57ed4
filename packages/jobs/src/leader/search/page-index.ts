// Hot path: `add` runs once per job.

/** Lists that one call of `sweep` looks at. */
const SWEPT_AT_ONCE = 64;
/** A map that grows is copied at once: a million keys in one would hold the event loop for 100 ms. */
const SHARDS = 64;

type Lists = Map<string, number | number[]>;

/**
 * For each value, the pages of the job table in which some job has it, in order. Pages and not jobs: a value
 * that all jobs share costs one number for 128 of them, and one that a single job has costs one number. A
 * page that the table has dropped is removed when its list is swept.
 */
export class PageIndex {
  /** One page is a number of its own: most order keys are in one. */
  private readonly shards = Array.from({ length: SHARDS }, (): Lists => new Map());
  private sweptShard = 0;
  private swept = this.shardAt(0).entries();

  get size(): number {
    return this.shards.reduce((sum, { size }) => sum + size, 0);
  }

  /** Pages come in the order of their numbers. */
  add(value: string, page: number): void {
    const lists = this.shardOf(value);
    const list = lists.get(value);
    if (list === undefined || list === page) {
      if (list === undefined) lists.set(value, page);
      return;
    }
    if (typeof list === 'number') lists.set(value, [list, page]);
    else if (list[list.length - 1] !== page) list.push(page);
  }

  /** The pages of a value. */
  of(value: string): readonly number[] {
    const list = this.shardOf(value).get(value);
    return list === undefined ? [] : typeof list === 'number' ? [list] : list;
  }

  /** Removes dropped pages of some lists, in turns. */
  sweep(exists: (page: number) => boolean): void {
    let shards = 0;
    for (let lists = 0; lists < SWEPT_AT_ONCE && shards < SHARDS; lists += 1) {
      let next = this.swept.next();
      for (; next.done === true && shards < SHARDS; shards += 1) {
        this.sweptShard = (this.sweptShard + 1) % SHARDS;
        this.swept = this.shardAt(this.sweptShard).entries();
        next = this.swept.next();
      }
      if (next.done !== true) sweepList(this.shardAt(this.sweptShard), next.value, exists);
    }
  }

  private shardOf(value: string): Lists {
    let hash = 0x811c9dc5;
    for (let i = 0; i < value.length; i += 1) hash = Math.imul(hash ^ value.charCodeAt(i), 0x01000193);
    return this.shardAt((hash ^ (hash >>> 16)) & (SHARDS - 1));
  }

  private shardAt(index: number): Lists {
    return this.shards[index] as Lists; // below SHARDS
  }
}

/** Pages are dropped from the front, more or less. */
function sweepList(
  lists: Lists,
  [value, list]: readonly [string, number | number[]],
  exists: (page: number) => boolean,
): void {
  if (exists(typeof list === 'number' ? list : (list[0] as number))) return;
  const kept = typeof list === 'number' ? [] : list.filter(exists);
  if (kept.length === 0) lists.delete(value);
  else lists.set(value, kept);
}
