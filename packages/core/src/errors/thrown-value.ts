import { ThrownValueError } from './error-classes.js';

/** Any thrown value as an Error. Never throws, never takes long, never keeps the value alive. */
export function toError(value: unknown): Error {
  try {
    if (value instanceof Error && typeof value.message === 'string') return value;
  } catch {
    return new ThrownValueError('a value that cannot be shown');
  }
  return new ThrownValueError(value);
}
