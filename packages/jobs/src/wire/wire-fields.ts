import type { ByteWriter } from '../bytes/byte-writer.js';
import { HAS_FIELDS, skipOptionalFields } from '../bytes/optional-fields.js';
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
  const hasCause = (flags & HAS_CAUSE) !== 0;
  if (hasCause && causesMax === 0) throw new MessageMalformedError('failure has too many causes');
  const cause = hasCause ? { cause: readFailure(from, causesMax - 1) } : {};
  if ((flags & HAS_FIELDS) !== 0) skipOptionalFields(from);
  return { ...failure, ...code, ...stack, ...cause };
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

/** A word, as its index in a list that only grows at its end. */
export function writeWord<T extends string>(out: ByteWriter, words: readonly T[], word: T): void {
  out.byte(words.indexOf(word));
}

/** A word that this version does not know is read as `other`. */
export function readWord<T extends string>(from: WireReader, words: readonly T[], other: T): T {
  return words[from.byte()] ?? other;
}

export function parseObject(text: string, field: string): Record<string, unknown> {
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
