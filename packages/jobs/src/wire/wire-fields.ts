import type { ByteWriter } from '../bytes/byte-writer.js';
import type { JobFailure } from '../jobs-error.js';
import { MessageMalformedError } from '../jobs-error.js';
import type { WireReader } from './wire-reader.js';

const HAS_CODE = 1;

export function writeFailure(out: ByteWriter, failure: JobFailure): void {
  out.byte(failure.code === undefined ? 0 : HAS_CODE);
  out.text(failure.name);
  out.text(failure.message);
  if (failure.code !== undefined) out.text(failure.code);
}

export function readFailure(from: WireReader): JobFailure {
  const flags = from.byte();
  const failure = { name: from.text(), message: from.text() };
  return (flags & HAS_CODE) === 0 ? failure : { ...failure, code: from.text() };
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
