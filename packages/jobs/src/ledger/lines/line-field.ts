import type { JobPolicy } from '../../job/definition/job-policy.js';
import { type Payload, payloadBytes, payloadOfBytes, payloadOfText } from '../../job/payload/payload.js';
import { StoredPayload } from '../../job/payload/stored-payload.js';
import type { QueueLimits } from '../../job/queue-control.js';
import type { TraceContext } from '../../job/trace-context.js';
import { type JobFailure, LedgerCorruptError } from '../../jobs-error.js';
import type { ScheduleRule } from '../schedules/schedule-rule.js';

/** A record as a JSON object, before it is text. */
export type LedgerLine = Record<string, unknown>;

/** How one field of a record stands in its line. Reading checks it: a line may have been edited by hand. */
export interface LineField<T> {
  write(line: LedgerLine, name: string, value: T): void;
  read(line: Readonly<LedgerLine>, name: string): T;
}

/** The fields of an object by name. */
export type LineFields<T> = { readonly [Name in keyof T]-?: LineField<T[Name]> };

export function writeFields<T>(line: LedgerLine, fields: LineFields<T>, value: T): void {
  for (const name in fields) fields[name].write(line, name, value[name]);
}

export function readFields<T>(line: Readonly<LedgerLine>, fields: LineFields<T>): T {
  const value: Partial<T> = {};
  for (const name in fields) {
    const read = fields[name].read(line, name);
    // A field that may be absent is then absent in the object too.
    if (read !== undefined || !(fields[name] instanceof AbsentField)) value[name] = read;
  }
  return value as T; // every field of it has been read
}

function wrong(name: string, needed: string): LedgerCorruptError {
  return new LedgerCorruptError(`${name} must be ${needed}`);
}

function plain<T>(needed: string, isValid: (value: unknown) => value is T): LineField<T> {
  return {
    write(line, name, value) {
      line[name] = value;
    },
    read(line, name) {
      const value = line[name];
      if (!isValid(value)) throw wrong(name, needed);
      return value;
    },
  };
}

const isInt = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const int: LineField<number> = plain('a whole number', isInt);
export const time: LineField<number> = plain('a time in milliseconds', (value): value is number =>
  Number.isFinite(value),
);
export const flag: LineField<boolean> = plain('true or false', (value) => typeof value === 'boolean');
export const text: LineField<string> = plain('a text', isText);
export const ints: LineField<readonly number[]> = plain(
  'a list of whole numbers',
  (value): value is number[] => Array.isArray(value) && value.every(isInt),
);
export const texts: LineField<readonly string[]> = plain(
  'a list of texts',
  (value): value is string[] => Array.isArray(value) && value.every(isText),
);
export const policy: LineField<JobPolicy> = plain('an object', (value): value is JobPolicy =>
  isObject(value),
);

export const queueLimits: LineField<QueueLimits> = plain('an object', (value): value is QueueLimits =>
  isObject(value),
);

export const scheduleRule: LineField<ScheduleRule> = plain('an object', (value): value is ScheduleRule =>
  isObject(value),
);

export function word<T extends string>(...words: readonly T[]): LineField<T> {
  return plain(`one of ${words.join(', ')}`, (value): value is T => words.includes(value as T));
}

/** Left out where it has its usual value. */
export function usually<T>(field: LineField<T>, usual: T): LineField<T> {
  return {
    write(line, name, value) {
      if (value !== usual) field.write(line, name, value);
    },
    read: (line, name) => (line[name] === undefined ? usual : field.read(line, name)),
  };
}

/** A field that a record may be without. */
class AbsentField<T> implements LineField<T | undefined> {
  private readonly field: LineField<T>;

  constructor(field: LineField<T>) {
    this.field = field;
  }

  write(line: LedgerLine, name: string, value: T | undefined): void {
    if (value !== undefined) this.field.write(line, name, value);
  }

  read(line: Readonly<LedgerLine>, name: string): T | undefined {
    return line[name] === undefined ? undefined : this.field.read(line, name);
  }
}

export function optional<T>(field: LineField<T>): LineField<T | undefined> {
  return new AbsentField(field);
}

export const failure: LineField<JobFailure | undefined> = usually<JobFailure | undefined>(
  plain('an object', (value): value is JobFailure => isObject(value)),
  undefined,
);

export function object<T>(fields: LineFields<T>): LineField<T> {
  return {
    write(line, name, value) {
      const inner: LedgerLine = {};
      writeFields(inner, fields, value);
      line[name] = inner;
    },
    read(line, name) {
      const inner = line[name];
      if (!isObject(inner)) throw wrong(name, 'an object');
      return readFields(inner as LedgerLine, fields);
    },
  };
}

export const trace: LineField<TraceContext> = object<TraceContext>({
  traceparent: text,
  tracestate: optional(text),
});

export function list<T>(fields: LineFields<T>): LineField<readonly T[]> {
  const item = object(fields);
  return {
    write(line, name, values) {
      line[name] = values.map((value) => {
        const inner: LedgerLine = {};
        writeFields(inner, fields, value);
        return inner;
      });
    },
    read(line, name) {
      const items = line[name];
      if (!Array.isArray(items)) throw wrong(name, 'a list');
      return items.map((inner: unknown) => item.read({ [name]: inner }, name));
    },
  };
}

export const bytes: LineField<Uint8Array> = {
  write(line, name, value) {
    line[name] = Buffer.from(value).toString('base64');
  },
  read(line, name) {
    const value = line[name];
    if (!isText(value)) throw wrong(name, 'bytes in base64');
    return Buffer.from(value, 'base64');
  },
};

/**
 * A payload is its JSON value, if that has the same bytes when it is written again. Else it is in another
 * field: `payloadText`, `payloadBase64`, or `payloadStored` for one that is a file beside the log.
 */
export const payload: LineField<Payload> = {
  write(line, name, value) {
    if (value instanceof StoredPayload) {
      line[`${name}Stored`] = { sha256: value.sha256, bytes: value.length };
      return;
    }
    const content = textOf(payloadBytes(value));
    const json = content === undefined ? undefined : sameValue(content);
    if (json !== undefined) line[name] = json.value;
    else if (content !== undefined) line[`${name}Text`] = content;
    else bytes.write(line, `${name}Base64`, payloadBytes(value));
  },
  read(line, name) {
    const value = line[name];
    if (value !== undefined) return payloadOfText(JSON.stringify(value));
    if (line[`${name}Text`] !== undefined) return payloadOfText(text.read(line, `${name}Text`));
    if (line[`${name}Base64`] !== undefined) return payloadOfBytes(bytes.read(line, `${name}Base64`));
    return storedPayload.read(line, `${name}Stored`);
  },
};

/** A payload that may be absent. */
export const optionalPayload: LineField<Payload | undefined> = {
  write(line, name, value) {
    if (value !== undefined) payload.write(line, name, value);
  },
  read(line, name) {
    const isThere = ['', 'Text', 'Base64', 'Stored'].some((form) => line[`${name}${form}`] !== undefined);
    return isThere ? payload.read(line, name) : undefined;
  },
};

/** A payload that is absent where it is empty, as that of a job that is done. */
export const payloadOrEmpty: LineField<Payload> = {
  write: (line, name, value) => optionalPayload.write(line, name, value === '' ? undefined : value),
  read: (line, name) => optionalPayload.read(line, name) ?? '',
};

/** Each in an object of its own, so that every form of a payload can stand there. */
export const payloads: LineField<readonly Payload[]> = {
  write: (line, name, values) =>
    items.write(
      line,
      name,
      values.map((value) => ({ payload: value })),
    ),
  read: (line, name) => items.read(line, name).map((item) => item.payload),
};
const items = list({ payload });

const storedPayload: Pick<LineField<StoredPayload>, 'read'> = {
  read(line, name) {
    const value = line[name];
    if (!isObject(value)) throw wrong(name.slice(0, -'Stored'.length), 'there');
    const { sha256, bytes: length } = value as { sha256?: unknown; bytes?: unknown };
    if (!isText(sha256) || !/^[0-9a-f]{64}$/.test(sha256) || !isInt(length))
      throw wrong(name, 'the digest and the length of a stored payload');
    return new StoredPayload(sha256, length);
  },
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(content: Uint8Array): string | undefined {
  try {
    return utf8.decode(content);
  } catch {
    return undefined; // Not UTF-8: base64 keeps every byte.
  }
}

/** The value of a JSON text that is written as the same text again. */
function sameValue(content: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(content);
    return JSON.stringify(value) === content ? { value } : undefined;
  } catch {
    return undefined; // Not JSON, or nested too deeply to be written again.
  }
}
