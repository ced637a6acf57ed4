import { ThrownValueError } from '@troupe/core';

/** An error as data: structured clone keeps neither its class nor its fields. */
export interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause: ErrorRecord | undefined;
}

const DEPTH_MAX = 8;

export function errorRecord(thrown: unknown, depth = 0): ErrorRecord {
  const error = thrown instanceof Error ? thrown : new ThrownValueError(thrown);
  const { cause } = error;
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    fields: cloneableFields(error),
    cause: cause === undefined || depth === DEPTH_MAX ? undefined : errorRecord(cause, depth + 1),
  };
}

/** An Error with the name, text, stack and fields of the original. */
export function errorOf(record: ErrorRecord): Error {
  const cause = record.cause === undefined ? undefined : { cause: errorOf(record.cause) };
  const error = new Error(record.message, cause);
  Object.defineProperty(error, 'name', { value: record.name, configurable: true, writable: true });
  Object.defineProperty(error, 'stack', { value: record.stack, configurable: true, writable: true });
  return Object.assign(error, record.fields);
}

function cloneableFields(error: Error): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(error)) {
    if (key === 'name' || key === 'message' || key === 'stack' || key === 'cause') continue;
    try {
      fields[key] = structuredClone(value);
    } catch {
      // A field that no thread can receive is shown as text rather than left out.
      fields[key] = String(value);
    }
  }
  return fields;
}
