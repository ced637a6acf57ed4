// Fields of a request, from outside: every one is checked.
import { MessageMalformedError } from '../../jobs-error.js';

type RawRequest = Readonly<Record<string, unknown>>;

export function whole(raw: RawRequest, field: string): number {
  const value = raw[field];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new MessageMalformedError(`request: ${field} is not a whole number`);
  return value;
}

export function text(raw: RawRequest, field: string): string {
  const value = raw[field];
  if (typeof value !== 'string') throw new MessageMalformedError(`request: ${field} is not a text`);
  return value;
}

export function flag(raw: RawRequest, field: string): boolean {
  const value = raw[field];
  if (typeof value !== 'boolean') throw new MessageMalformedError(`request: ${field} is not true or false`);
  return value;
}

export function object(raw: RawRequest, field: string): RawRequest {
  const value = raw[field];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MessageMalformedError(`request: ${field} is not an object`);
  return value as RawRequest; // the keys of a JSON object are texts
}
