import type { ByteWriter } from '../bytes/byte-writer.js';
import type { JobFailure } from '../jobs-error.js';
import { MessageMalformedError } from '../jobs-error.js';
import type { WireReader } from './wire-reader.js';

const HAS_CODE = 1;
const HAS_STACK = 2;
const HAS_CAUSE = 4;
const CAUSES_MAX = 8;

export function writeFailure(out: ByteWriter, failure: JobFailure): void {
  const { code, stack, cause } = failure;
  out.byte(
    (code === undefined ? 0 : HAS_CODE) |
      (stack === undefined ? 0 : HAS_STACK) |
      (cause === undefined ? 0 : HAS_CAUSE),
  );
  out.text(failure.name);
  out.text(failure.message);
  if (code !== undefined) out.text(code);
  if (stack !== undefined) out.text(stack);
  if (cause !== undefined) writeFailure(out, cause);
}

export function readFailure(from: WireReader, causesMax = CAUSES_MAX): JobFailure {
  const flags = from.byte();
  const failure = { name: from.text(), message: from.text() };
  const code = (flags & HAS_CODE) === 0 ? {} : { code: from.text() };
  const stack = (flags & HAS_STACK) === 0 ? {} : { stack: from.text() };
  if ((flags & HAS_CAUSE) === 0) return { ...failure, ...code, ...stack };
  if (causesMax === 0) throw new MessageMalformedError('failure has too many causes');
  return { ...failure, ...code, ...stack, cause: readFailure(from, causesMax - 1) };
}

export function writeTexts(out: ByteWriter, texts: readonly string[]): void {
  out.int(texts.length);
  for (const text of texts) out.text(text);
}

/** The count needs no check: a list that is not there ends the message too early. */
export function readTexts(from: WireReader): string[] {
  const count = from.int();
  const texts: string[] = [];
  for (let i = 0; i < count; i += 1) {
    from.countItem();
    texts.push(from.text());
  }
  return texts;
}

/** A value of a closed set, as its index in the set. */
export function writeEnum<T extends string>(out: ByteWriter, values: readonly T[], value: T): void {
  out.byte(values.indexOf(value));
}

export function readEnum<T extends string>(from: WireReader, values: readonly T[], field: string): T {
  const value = values[from.byte()];
  if (value === undefined) throw new MessageMalformedError(`${field} has an unknown value`);
  return value;
}

export function readJson(from: WireReader, field: string): Record<string, unknown> {
  const text = from.text();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MessageMalformedError(`${field} is not JSON`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MessageMalformedError(`${field} is not an object`);
  // It is an object; the caller checks its fields.
  return value as Record<string, unknown>;
}
