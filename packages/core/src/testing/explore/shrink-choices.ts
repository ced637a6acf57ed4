import type { OtherChoices } from './schedule-choices.js';

const RUNS_MAX = 400;

/**
 * Fewer choices with which the scenario still fails: leaves out halves, quarters and so on down to single
 * ones, as long as that succeeds.
 */
export async function shrinkChoices(
  failing: OtherChoices,
  fails: (choices: OtherChoices) => Promise<boolean>,
): Promise<OtherChoices> {
  let kept = [...failing];
  let runs = 0;
  for (let length = kept.length; length >= 1; length = nextLength(length, kept.length)) {
    for (let at = 0; at < kept.length && runs < RUNS_MAX; runs += 1) {
      const fewer = [...kept.slice(0, at), ...kept.slice(at + length)];
      if (await fails(new Map(fewer))) kept = fewer;
      else at += length;
    }
  }
  return new Map(kept);
}

function nextLength(length: number, kept: number): number {
  return length === 1 ? 0 : Math.max(1, Math.min(Math.floor(length / 2), kept));
}
