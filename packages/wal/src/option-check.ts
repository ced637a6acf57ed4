import { checkOption, type OptionProblem, oneOf, wholeNumber } from '@troupe/core/option-check';
import { WalOptionError } from './wal-error.js';

/** The value if it is a whole number within these bounds; throws a WalOptionError otherwise. */
export function integer(option: string, value: number, min: number, max?: number): number {
  return checkOption(option, value, wholeNumber(min, max), optionError);
}

/** The value if it is one of these words; throws a WalOptionError otherwise. */
export function wordOf<T extends string>(option: string, value: T, words: readonly T[]): T {
  return checkOption(option, value, oneOf(words), optionError);
}

function optionError({ option, value, problem }: OptionProblem): WalOptionError {
  return new WalOptionError(option, value, problem);
}
