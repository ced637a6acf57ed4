import { JobDefinitionError } from './jobs-error.js';

/** What is wrong with a value, as the rest of a sentence that begins with its name. */
export type Check = (value: unknown) => string | undefined;

/** The names a bag of options may hold. The one way in which this package looks at what it is given. */
export type Checks = Readonly<Record<string, Check>>;

/** A year: longer waits are a mistake in the unit. */
export const YEAR_MS = 366 * 24 * 3_600_000;

/**
 * Checks a bag of options against the names it may hold, and those it must. A name nobody knows is an error: an option that
 * silently does nothing hurts more than a missing one.
 */
export function checkOptions(
  subject: string,
  options: unknown,
  checks: Checks,
  needed: readonly string[] = [],
): void {
  const problem = isObject(options) ? problemIn(options, checks, needed) : 'options must be an object';
  if (problem !== undefined) throw new JobDefinitionError(subject, problem);
}

/** The same for a bag inside a bag. */
export function bag(checks: Checks): Check {
  return (value) => {
    if (!isObject(value)) return `must be an object, got ${show(value)}`;
    const problem = problemIn(value, checks, []);
    return problem === undefined ? undefined : `cannot be used: ${problem}`;
  };
}

/** What is wrong with it, if anything. */
export function problemIn(options: object, checks: Checks, needed: readonly string[]): string | undefined {
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) return `unknown option '${name}', known are ${Object.keys(checks).join(', ')}`;
    const problem = value === undefined ? undefined : check(value);
    if (problem !== undefined) return `option '${name}' ${problem}`;
  }
  const missing = needed.find((name) => (options as Record<string, unknown>)[name] === undefined);
  return missing === undefined ? undefined : `option '${missing}' is needed`;
}

/** The defaults, with what was given in their place. Undefined is not given. */
export function withDefaults<T extends object>(defaults: T, given: Partial<T> = {}): T {
  const all = { ...defaults };
  for (const name of Object.keys(given) as (keyof T)[]) {
    const value = given[name];
    if (value !== undefined) all[name] = value as T[keyof T];
  }
  return all;
}

export function wholeNumber(min: number, max: number): Check {
  return (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? undefined
      : `must be a whole number from ${min} to ${max}, got ${show(value)}`;
}

export function numberWithin(min: number, max: number): Check {
  return (value) =>
    typeof value === 'number' && value >= min && value <= max
      ? undefined
      : `must be a number from ${min} to ${max}, got ${show(value)}`;
}

export function oneOf(...allowed: readonly (string | boolean)[]): Check {
  return (value) =>
    (allowed as readonly unknown[]).includes(value)
      ? undefined
      : `must be one of ${allowed.join(', ')}, got ${show(value)}`;
}

export const flag: Check = oneOf(true, false);

export function text(bytesMax: number): Check {
  return (value) =>
    typeof value === 'string' && value.length > 0 && Buffer.byteLength(value) <= bytesMax
      ? undefined
      : `must be a text of 1 to ${bytesMax} bytes, got ${show(value)}`;
}

/** By which a leader knows a client or a worker. */
export function plainName(charsMax: number): Check {
  return (value) =>
    typeof value === 'string' && isPlainName(value) && value.length <= charsMax
      ? undefined
      : `must be 1 to ${charsMax} letters, digits and _ . : @ / -, got ${show(value)}`;
}

export function isPlainName(value: string): boolean {
  return /^[\w.:@/-]{1,128}$/.test(value);
}

export function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return `must be an array, got ${show(value)}`;
    const at = value.findIndex((one: unknown) => check(one) !== undefined);
    return at === -1 ? undefined : `has at ${at} what ${check(value[at])}`;
  };
}

export const isFunction: Check = (value) =>
  typeof value === 'function' ? undefined : `must be a function, got ${show(value)}`;

/** What another package takes, and looks at itself. */
export const anObject: Check = (value) =>
  isObject(value) ? undefined : `must be an object, got ${show(value)}`;

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function show(value: unknown): string {
  if (typeof value === 'string') return `'${value.length > 60 ? `${value.slice(0, 60)}…` : value}'`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? (value === null ? 'null' : 'an object') : String(value);
}
