import { OptionError } from './errors/error-classes.js';

export { describe } from './errors/describe-value.js';

/** An option with a value it cannot have. `problem` is a clause: `needed a whole number of at least 1`. */
export interface OptionProblem {
  readonly option: string;
  readonly value: unknown;
  readonly problem: string;
}

/** Finds the problem of a value, if it has one. `option` is the name that the problem carries. */
export type OptionRule = (value: unknown, option: string) => OptionProblem | undefined;

/** The options that an object may have, by name. */
export type OptionRules = Readonly<Record<string, OptionRule>>;

/** The error for a problem. Default: `OptionError`. */
export type OptionErrorOf = (problem: OptionProblem) => Error;

const optionErrorOf: OptionErrorOf = ({ option, value, problem }) => new OptionError(option, value, problem);

/** Returns the value if the rule holds, throws otherwise. */
export function checkOption<T>(
  option: string,
  value: T,
  rule: OptionRule,
  errorOf: OptionErrorOf = optionErrorOf,
): T {
  const problem = rule(value, option);
  if (problem !== undefined) throw errorOf(problem);
  return value;
}

/**
 * Checks an object of options: no unknown names (a misspelt limit must not become no limit), every given
 * value by its rule, every required name present. An option that is `undefined` is not given.
 */
export function checkOptions(
  what: string,
  given: unknown,
  rules: OptionRules,
  { required, errorOf = optionErrorOf }: { required?: readonly string[]; errorOf?: OptionErrorOf } = {},
): void {
  checkOption(what, given, options(rules, required), errorOf);
}

/** Refuses unknown names only; the values are checked elsewhere. */
export function checkOptionNames(what: string, given: unknown, names: readonly string[]): void {
  checkOptions(what, given, Object.fromEntries(names.map((name) => [name, anything])));
}

/** A rule from a predicate. `needed` completes `needed …`. */
export function rule(needed: string, holds: (value: unknown) => boolean): OptionRule {
  const problem = `needed ${needed}`;
  return (value, option) => (holds(value) ? undefined : { option, value, problem });
}

export const anything: OptionRule = () => undefined;

export const object: OptionRule = rule('an object', isObject);

export const array: OptionRule = rule('an array', Array.isArray);

export const callback: OptionRule = rule('a function', (value) => typeof value === 'function');

export const flag: OptionRule = rule('true or false', (value) => typeof value === 'boolean');

export const abortSignal: OptionRule = rule('an AbortSignal', (value) => value instanceof AbortSignal);

export const name: OptionRule = rule('a name', (value) => typeof value === 'string' && value.length > 0);

export function text(bytesMax: number): OptionRule {
  return rule(
    `a text of 1 to ${bytesMax} bytes`,
    (value) => typeof value === 'string' && value.length > 0 && utf8BytesOf(value) <= bytesMax,
  );
}

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): OptionRule {
  return rule(
    `a whole number ${rangeOf(min, max, Number.MAX_SAFE_INTEGER)}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  );
}

/** Infinity is refused, and so is NaN. */
export function number(min: number, max = Number.MAX_VALUE): OptionRule {
  return rule(
    `a number ${rangeOf(min, max, Number.MAX_VALUE)}`,
    (value) => typeof value === 'number' && value >= min && value <= max,
  );
}

export function numberAbove(bound: number): OptionRule {
  return rule(
    `a number above ${bound}`,
    (value) => typeof value === 'number' && value > bound && value < Number.POSITIVE_INFINITY,
  );
}

export function oneOf(legal: readonly unknown[]): OptionRule {
  return rule(`one of ${legal.join(', ')}`, (value) => legal.includes(value));
}

export function listOf(element: OptionRule): OptionRule {
  return (value, option) => {
    if (!Array.isArray(value)) return array(value, option);
    for (const [index, one] of value.entries()) {
      const problem = element(one, `${option}[${index}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** The rule for an object of options, also as an option of another: problems are named `outer.inner`. */
export function options(rules: OptionRules, required: readonly string[] = []): OptionRule {
  return (given, what) => {
    if (!isObject(given)) return object(given, what);
    for (const [key, value] of Object.entries(given)) {
      const option = `${what}.${key}`;
      const known = Object.hasOwn(rules, key) ? rules[key] : undefined;
      if (known === undefined) return { option, value, problem: 'there is no such option' };
      const problem = value === undefined ? undefined : known(value, option);
      if (problem !== undefined) return problem;
    }
    const missing = required.find((key) => (given as Readonly<Record<string, unknown>>)[key] === undefined);
    return missing === undefined
      ? undefined
      : { option: `${what}.${missing}`, value: undefined, problem: 'this option is required' };
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function rangeOf(min: number, max: number, unbounded: number): string {
  return max === unbounded ? `of at least ${min}` : `from ${min} to ${max}`;
}

function utf8BytesOf(value: string): number {
  return new TextEncoder().encode(value).length;
}
