import type { JobFailure } from '../jobs-error.js';
import type { ByteReader } from './byte-reader.js';
import type { ByteWriter } from './byte-writer.js';
import { MessageMalformedError } from './remote-error.js';

const HAS_CODE = 1;

export function writeFailure(out: ByteWriter, failure: JobFailure): void {
  out.byte(failure.code === undefined ? 0 : HAS_CODE);
  out.text(failure.name);
  out.text(failure.message);
  if (failure.code !== undefined) out.text(failure.code);
}

export function readFailure(from: ByteReader): JobFailure {
  const flags = from.byte();
  const failure = { name: from.text(), message: from.text() };
  return (flags & HAS_CODE) === 0 ? failure : { ...failure, code: from.text() };
}

export function writeTexts(out: ByteWriter, texts: readonly string[]): void {
  out.int(texts.length);
  for (const text of texts) out.text(text);
}

/** The count is checked by the reading itself: a list that is not there ends the message. */
export function readTexts(from: ByteReader): string[] {
  const count = from.int();
  const texts: string[] = [];
  for (let i = 0; i < count; i += 1) texts.push(from.text());
  return texts;
}

/** A word of a closed set travels as its place in it. */
export function writeWord<T extends string>(out: ByteWriter, words: readonly T[], word: T): void {
  out.byte(words.indexOf(word));
}

export function readWord<T extends string>(from: ByteReader, words: readonly T[], field: string): T {
  const word = words[from.byte()];
  if (word === undefined) throw new MessageMalformedError(`${field} has an unknown value`);
  return word;
}

export function readJson(from: ByteReader, field: string): Record<string, unknown> {
  const text = from.text();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MessageMalformedError(`${field} is not JSON`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MessageMalformedError(`${field} is not an object`);
  // JSON gave an object; what its fields are is for the caller to check.
  return value as Record<string, unknown>;
}
