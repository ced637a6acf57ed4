import { OptionError } from './errors.js';

export function anObject(option: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new OptionError(option, value, 'needed an object');
}

export function anArray(option: string, value: unknown): void {
  if (!Array.isArray(value)) throw new OptionError(option, value, 'needed an array');
}

export function aFunction(option: string, value: unknown): void {
  if (typeof value !== 'function') throw new OptionError(option, value, 'needed a function');
}

/** Refuses options nobody knows: a misspelt limit must not become no limit. */
export function onlyKnown(what: string, given: object, known: readonly string[]): void {
  anObject(what, given);
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key)) throw new OptionError(`${what}.${key}`, value, 'there is no such option');
  }
}

export function whole(option: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least)
    throw new OptionError(option, value, `needed a whole number of at least ${least}`);
  return value;
}

export function atLeast(option: string, value: number, least: number): number {
  if (!(typeof value === 'number' && value >= least && value < Number.POSITIVE_INFINITY)) {
    throw new OptionError(option, value, `needed a number of at least ${least}`);
  }
  return value;
}

export function oneOf(option: string, value: unknown, legal: readonly unknown[]): void {
  if (!legal.includes(value)) throw new OptionError(option, value, `needed one of ${legal.join(', ')}`);
}
