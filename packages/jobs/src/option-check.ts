import {
  checkOptions as checkByRules,
  describe,
  type OptionProblem,
  type OptionRule,
  type OptionRules,
  rule,
} from '@troupe/core/option-check';
import { JobDefinitionError } from './jobs-error.js';

/** A year: longer times are a mistake in the unit. */
export const YEAR_MS = 366 * 24 * 3_600_000;

/** Checks the options of a call. `what` names the call in the error. */
export function checkOptions(
  what: string,
  given: unknown,
  rules: OptionRules,
  required: readonly string[] = [],
): void {
  checkByRules(what, given, rules, { required, errorOf: definitionError });
}

export function definitionError(problem: OptionProblem): JobDefinitionError {
  return new JobDefinitionError(problem.option, `${problem.problem}, got ${describe(problem.value)}`);
}

/** Options of which each has a default. One that is `undefined` is not given. */
export type Defaulted<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** The defaults, replaced by the given values. */
export function withDefaults<T extends object>(defaults: T, given: Defaulted<T> = {}): T {
  const all = { ...defaults };
  for (const name of Object.keys(given) as (keyof T)[]) {
    const value = given[name];
    if (value !== undefined) all[name] = value as T[keyof T];
  }
  return all;
}

/** The name of a client or a worker. */
export function plainName(charsMax: number): OptionRule {
  return rule(
    `1 to ${charsMax} letters, digits and _ . : @ / -`,
    (value) => typeof value === 'string' && isPlainName(value) && value.length <= charsMax,
  );
}

export function isPlainName(value: string): boolean {
  return /^[\w.:@/-]{1,128}$/.test(value);
}
