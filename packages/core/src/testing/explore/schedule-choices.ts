import type { SeededRandom } from '../seeded-random.js';

/** Choices that differ from the first alternative, by their number in the schedule. */
export type OtherChoices = ReadonlyMap<number, number>;

/**
 * The points at which a schedule could go another way: the next ready actor, a crash, the length of a delay.
 * A new schedule takes them from a seed, a repeated one takes the first alternative unless told otherwise.
 */
export class ScheduleChoices {
  private readonly random: SeededRandom | undefined;
  private readonly others: OtherChoices;
  private readonly taken: number[] = [];

  private constructor(random: SeededRandom | undefined, others: OtherChoices) {
    this.random = random;
    this.others = others;
  }

  static bySeed(random: SeededRandom): ScheduleChoices {
    return new ScheduleChoices(random, new Map());
  }

  static repeated(others: OtherChoices): ScheduleChoices {
    return new ScheduleChoices(undefined, others);
  }

  /** One of so many alternatives. */
  choose(alternatives: number): number {
    return alternatives <= 1 ? 0 : this.take(alternatives, () => this.random?.below(alternatives));
  }

  /** True once in so many times. */
  isRarely(oneIn: number): boolean {
    return this.take(2, () => (this.random?.chance(1 / oneIn) === true ? 1 : 0)) === 1;
  }

  /** The choices so far that were not the first alternative. */
  get othersTaken(): Map<number, number> {
    const others = new Map<number, number>();
    this.taken.forEach((choice, at) => {
      if (choice > 0) others.set(at, choice);
    });
    return others;
  }

  private take(alternatives: number, bySeed: () => number | undefined): number {
    const wanted = this.random === undefined ? this.others.get(this.taken.length) : bySeed();
    const choice = Math.min(wanted ?? 0, alternatives - 1);
    this.taken.push(choice);
    return choice;
  }
}
