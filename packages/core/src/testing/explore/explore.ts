import { checkOptions, rule, wholeNumber } from '../../option-check.js';
import { SeededRandom } from '../seeded-random.js';
import { ExploreError } from './explore-errors.js';
import { type ExploredWorld, SchedulingWorld, type WorldLimits } from './explored-world.js';
import { type OtherChoices, ScheduleChoices } from './schedule-choices.js';
import { shrinkChoices } from './shrink-choices.js';

export interface ExploreOptions {
  /** How many schedules. Default 200. */
  readonly seeds?: number | undefined;
  /** The first seed. Default 1. */
  readonly from?: number | undefined;
  /** One schedule again, as an `ExploreError` has printed it. Default: none. */
  readonly replay?: string | undefined;
  /**
   * Threads of the world beside the main one, each with a pump of its own: `thread-1` and so on. Default 0.
   */
  readonly threads?: number | undefined;
  /** Virtual time that a scenario may take. Default 3,600,000. */
  readonly timeMaxMs?: number | undefined;
}

export type Scenario = (world: ExploredWorld) => unknown;

const REPLAY = /^(\d+):((?:\d+\.\d+(?:,|$))*)$/;
const replayText = rule(
  'a text that an ExploreError has printed',
  (value) => typeof value === 'string' && REPLAY.test(value),
);
const RULES = {
  seeds: wholeNumber(1),
  from: wholeNumber(0),
  replay: replayText,
  threads: wholeNumber(0, 128),
  timeMaxMs: wholeNumber(1),
};
const TURNS_MAX = 1_000_000;

/**
 * Runs a scenario on many schedules: other orders of ready actors, other crashes, other delays. The first
 * schedule on which it fails is shrunk, and thrown as an `ExploreError`. Resolves with the number of
 * schedules.
 */
export async function explore(scenario: Scenario, options: ExploreOptions = {}): Promise<number> {
  checkOptions('explore', options, RULES);
  const { seeds = 200, from = 1, replay, threads = 0, timeMaxMs = 3_600_000 } = options;
  const explorer = new Explorer(scenario, { timeMaxMs, threads });
  if (replay !== undefined) {
    const { seed, choices } = parseReplay(replay);
    await explorer.repeat(seed, choices);
    return 1;
  }
  for (let seed = from; seed < from + seeds; seed += 1) await explorer.trySeed(seed, seed - from);
  return seeds;
}

interface Failing {
  readonly error: unknown;
  readonly choices: OtherChoices;
  readonly crashes: readonly string[];
  readonly messages: readonly string[];
}

class Explorer {
  private readonly scenario: Scenario;
  private readonly options: Pick<WorldLimits, 'timeMaxMs' | 'threads'>;

  constructor(scenario: Scenario, options: Explorer['options']) {
    this.scenario = scenario;
    this.options = options;
  }

  async trySeed(seed: number, passed: number): Promise<void> {
    const found = await this.runOnce(seed, ScheduleChoices.bySeed(new SeededRandom(seed ^ 0x5eed)));
    if (found === undefined) return;
    const kind = kindOf(found.error);
    const fewest = await shrinkChoices(found.choices, async (choices) => {
      const again = await this.runOnce(seed, ScheduleChoices.repeated(choices));
      return again !== undefined && kindOf(again.error) === kind;
    });
    const shrunk = (await this.runOnce(seed, ScheduleChoices.repeated(fewest))) ?? found;
    throw explained(seed, shrunk, passed, found.choices.size, this.options.threads);
  }

  async repeat(seed: number, choices: OtherChoices): Promise<void> {
    const found = await this.runOnce(seed, ScheduleChoices.repeated(choices));
    if (found !== undefined) throw explained(seed, found, 0, choices.size, this.options.threads);
  }

  private async runOnce(seed: number, choices: ScheduleChoices): Promise<Failing | undefined> {
    const limits: WorldLimits = { ...this.options, seed, turnsMax: TURNS_MAX };
    const world = new SchedulingWorld(choices, limits);
    try {
      await world.run(this.scenario);
      return undefined;
    } catch (error) {
      const { crashes, lastMessages } = world;
      return { error, choices: choices.othersTaken, crashes, messages: lastMessages };
    } finally {
      await world.end();
    }
  }
}

/** A shrunk schedule fails in the same way, not by another error. */
function kindOf(error: unknown): string {
  const { name = '', code = '' } = (error ?? {}) as { readonly name?: string; readonly code?: string };
  return `${name} ${code}`;
}

function explained(
  seed: number,
  failing: Failing,
  passed: number,
  choices: number,
  threads: number,
): ExploreError {
  const { error, crashes, messages } = failing;
  const replay = `${seed}:${[...failing.choices].map(([at, choice]) => `${at}.${choice}`).join(',')}`;
  return new ExploreError(seed, replay, error, {
    passed,
    choices,
    shrunkTo: failing.choices.size,
    crashes,
    messages,
    threads,
  });
}

function parseReplay(replay: string): { readonly seed: number; readonly choices: OtherChoices } {
  const [, seed = '', list = ''] = REPLAY.exec(replay) ?? [];
  const pairs = list.split(',').filter((pair) => pair !== '');
  return {
    seed: Number(seed),
    choices: new Map(pairs.map((pair) => pair.split('.').map(Number) as [number, number])),
  };
}
