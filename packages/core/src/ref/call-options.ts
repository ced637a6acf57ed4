import type { ActorCell } from '../actor/actor-cell.js';
import { abortSignal, checkOptions, type OptionRules, rule } from '../option-check.js';
import type { AskOptions } from './actor-ref.js';

/** How an ask or a send is made: in which actor's name, and with which options of the caller. */
export interface CallTerms {
  readonly sender: ActorCell | undefined;
  readonly options: AskOptions | undefined;
}

const RULES: OptionRules = {
  withinMs: rule('a number above 0', (value) => typeof value === 'number' && value > 0),
  signal: abortSignal,
};

/** Throws for an unknown or wrong option of an ask or a send. */
export function checkCallOptions(verb: string, options: AskOptions | undefined): void {
  if (options !== undefined && !isPlain(options)) checkOptions(verb, options, RULES);
}

/** The most frequent options, without the work of a complete check. */
function isPlain(options: AskOptions): boolean {
  if (typeof options !== 'object' || options === null) return false;
  for (const key in options) if (key !== 'withinMs') return false;
  return typeof options.withinMs === 'number' && options.withinMs > 0;
}
