import { checkOption, type OptionProblem, wholeNumber } from '@troupe/core/option-check';
import { WalOptionError } from './wal-error.js';

/** The value if it is a whole number within these bounds; throws a WalOptionError otherwise. */
export function integer(option: string, value: number, min: number, max?: number): number {
  return checkOption(option, value, wholeNumber(min, max), optionError);
}

function optionError({ option, value, problem }: OptionProblem): WalOptionError {
  return new WalOptionError(option, value, problem);
}
