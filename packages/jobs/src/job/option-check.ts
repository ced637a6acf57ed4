import { JobDefinitionError } from '../jobs-error.js';

type Check = (value: unknown) => string | undefined;

/**
 * Checks a bag of options against the names it may hold. A name nobody knows is an error: an option that silently does
 * nothing hurts more than a missing one.
 */
export function checkOptions(
  subject: string,
  options: unknown,
  checks: Readonly<Record<string, Check>>,
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new JobDefinitionError(subject, 'options must be an object');
  }
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      throw new JobDefinitionError(
        subject,
        `unknown option '${name}', known are ${Object.keys(checks).join(', ')}`,
      );
    }
    if (value === undefined) continue;
    const problem = check(value);
    if (problem !== undefined) throw new JobDefinitionError(subject, `option '${name}' ${problem}`);
  }
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

export function oneOf(...allowed: readonly string[]): Check {
  return (value) =>
    typeof value === 'string' && allowed.includes(value)
      ? undefined
      : `must be one of ${allowed.join(', ')}, got ${show(value)}`;
}

export function text(bytesMax: number): Check {
  return (value) =>
    typeof value === 'string' && value.length > 0 && Buffer.byteLength(value) <= bytesMax
      ? undefined
      : `must be a text of 1 to ${bytesMax} bytes, got ${show(value)}`;
}

export const isFunction: Check = (value) => (typeof value === 'function' ? undefined : 'must be a function');

export const anything: Check = () => undefined;

export function show(value: unknown): string {
  if (typeof value === 'string') return `'${value.length > 60 ? `${value.slice(0, 60)}…` : value}'`;
  return typeof value === 'object' ? (value === null ? 'null' : 'an object') : String(value);
}
