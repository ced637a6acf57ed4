import { SeededRandom } from '@troupe/core/testing';
import { DAMAGE_KINDS } from './damage-kinds.js';
import { makeLogImage, openDamaged, type Verdict } from './damaged-log.js';

export type DamageCounts = Record<Verdict, number>;

/** The verdicts by kind of damage, and a line for every loss without a word. */
export class DamageTable {
  readonly counts = new Map<string, DamageCounts>();
  readonly losses: string[] = [];
  withSnapshots = 0;
  /** Directories whose records are lines. */
  withLines = 0;

  /** Damages one directory in every way, each on its own copy. */
  addRound(seed: number): void {
    const image = makeLogImage(seed);
    if (image.snapshots > 0) this.withSnapshots += 1;
    if (image.codec === 'jsonl') this.withLines += 1;
    for (const [kind, damage] of Object.entries(DAMAGE_KINDS)) {
      const files = new Map(image.files);
      if (!damage(files, image, new SeededRandom(seed))) continue;
      const { verdict, why } = openDamaged(image, files);
      this.countsOf(kind)[verdict] += 1;
      if (verdict === 'silent-loss') this.losses.push(`seed ${seed}, ${kind}: ${why}`);
    }
  }

  private countsOf(kind: string): DamageCounts {
    const counts = this.counts.get(kind) ?? {
      'recovered-all': 0,
      refused: 0,
      'blob-refused': 0,
      'silent-loss': 0,
    };
    this.counts.set(kind, counts);
    return counts;
  }
}
