const SEPARATOR = '\n';

interface TagSet {
  /** Its tags as one text. */
  readonly text: string;
  jobs: number;
}

/**
 * The tags of jobs, by number: not on the job, since ended jobs are kept by template (ADR 0417). Most jobs of
 * a kind have the same tags, so a set of them is kept once.
 */
export class JobTags {
  private readonly byJob = new Map<number, TagSet>();
  private readonly sets = new Map<string, TagSet>();

  get size(): number {
    return this.byJob.size;
  }

  of(job: number): readonly string[] {
    const set = this.byJob.size === 0 ? undefined : this.byJob.get(job);
    return set === undefined ? [] : set.text.split(SEPARATOR);
  }

  set(job: number, tags: readonly string[]): void {
    const text = tags.join(SEPARATOR);
    const set = this.sets.get(text) ?? { text, jobs: 0 };
    this.sets.set(text, set);
    set.jobs += 1;
    this.byJob.set(job, set);
  }

  drop(job: number): void {
    const set = this.byJob.get(job);
    if (set === undefined) return;
    this.byJob.delete(job);
    set.jobs -= 1;
    if (set.jobs === 0) this.sets.delete(set.text);
  }

  /** In the order of the submits. */
  *entries(): Generator<readonly [job: number, tags: readonly string[]]> {
    for (const [job, { text }] of this.byJob) yield [job, text.split(SEPARATOR)];
  }
}
