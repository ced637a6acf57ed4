import { OptionError } from '@troupe/core';

/** Refuses options nobody knows: a misspelt limit must not become no limit. */
export function onlyKnown(what: string, given: object, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new OptionError(what, given, 'needed an object');
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key)) throw new OptionError(`${what}.${key}`, value, 'there is no such option');
  }
}

export function aName(option: string, value: string): string {
  if (typeof value !== 'string' || value.length === 0) throw new OptionError(option, value, 'needed a name');
  return value;
}

export function whole(option: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least)
    throw new OptionError(option, value, `needed a whole number of at least ${least}`);
  return value;
}

export function atLeast(option: string, value: number, least: number): number {
  if (!(typeof value === 'number' && value >= least && value < Number.POSITIVE_INFINITY))
    throw new OptionError(option, value, `needed a number of at least ${least}`);
  return value;
}

export function above(option: string, value: number, bound: number): number {
  if (!(typeof value === 'number' && value > bound && value < Number.POSITIVE_INFINITY))
    throw new OptionError(option, value, `needed a number above ${bound}`);
  return value;
}

export function share(option: string, value: number): number {
  if (!(typeof value === 'number' && value >= 0 && value <= 1))
    throw new OptionError(option, value, 'needed a number from 0 to 1');
  return value;
}

export function oneOf<T extends string>(option: string, value: T, legal: readonly T[]): T {
  if (!legal.includes(value)) throw new OptionError(option, value, `needed one of ${legal.join(', ')}`);
  return value;
}

export function aFunction<F>(option: string, value: F): F {
  if (typeof value !== 'function') throw new OptionError(option, value, 'needed a function');
  return value;
}
