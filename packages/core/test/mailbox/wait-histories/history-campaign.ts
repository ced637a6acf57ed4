import { problemsOf } from './history-checker.js';
import { generateHistory } from './history-generator.js';
import { runHistory } from './history-run.js';
import { shrinkHistory } from './history-shrinker.js';
import { historyText } from './history-text.js';
import type { WaitHistory } from './wait-history.js';

export interface CampaignReport {
  readonly histories: number;
  readonly messages: number;
  readonly mutes: number;
  readonly cycles: number;
  /** Releases by time, in histories with waits from outside. */
  readonly releases: number;
  /** The first failure, shrunk, with its seed; undefined when every history kept the rule. */
  readonly failure: string | undefined;
}

/** Runs the histories of these seeds up to the first that fails. */
export async function runCampaign(seeds: Iterable<number>): Promise<CampaignReport> {
  const total = { histories: 0, messages: 0, mutes: 0, cycles: 0, releases: 0 };
  for (const seed of seeds) {
    const history = generateHistory(seed);
    const report = await runHistory(history);
    total.histories += 1;
    total.messages += report.messages.length;
    total.mutes += report.mutes;
    total.cycles += report.cycles;
    total.releases += report.stuck.length;
    if (problemsOf(report).length > 0) return { ...total, failure: await explain(history) };
  }
  return { ...total, failure: undefined };
}

async function explain(history: WaitHistory): Promise<string> {
  const fails = async (smaller: WaitHistory): Promise<boolean> =>
    problemsOf(await runHistory(smaller)).length > 0;
  const smallest = await shrinkHistory(history, fails);
  const problems = problemsOf(await runHistory(smallest));
  return [
    `seed ${history.seed} fails, shrunk to:`,
    historyText(smallest),
    ...problems,
    `replay: npm run histories -- --seed ${history.seed}`,
  ].join('\n');
}
