import { NotCloneableError } from './thread-errors.js';

/**
 * The error for a value that `postMessage` refused: a walk down to the first field that structured clone
 * refuses by itself. `name` is the name of the value in the path: `args[0].rows[3].format`.
 */
export function findNotCloneable(value: unknown, name: string, cause: unknown): NotCloneableError {
  const seen = new Set<object>();
  let current = value;
  let path = name;
  let reason = cause;
  for (;;) {
    const field = typeof current === 'object' && current !== null ? refusedField(current, seen) : undefined;
    if (field === undefined) return new NotCloneableError(path, reason);
    current = field.value;
    path += field.step;
    reason = field.reason;
  }
}

interface RefusedField {
  readonly value: unknown;
  readonly step: string;
  readonly reason: unknown;
}

function refusedField(object: object, seen: Set<object>): RefusedField | undefined {
  if (seen.has(object)) return undefined;
  seen.add(object);
  for (const [step, value] of fieldsOf(object)) {
    const reason = refusalOf(value);
    if (reason !== undefined) return { value, step, reason };
  }
  return undefined;
}

function* fieldsOf(object: object): Generator<readonly [step: string, value: unknown]> {
  if (object instanceof Map) {
    for (const [key, value] of object) {
      yield ['.keys()', key];
      yield [`.get(${String(key)})`, value];
    }
    return;
  }
  if (object instanceof Set) {
    for (const value of object) yield ['.values()', value];
    return;
  }
  const isArray = Array.isArray(object);
  for (const [key, value] of Object.entries(object)) yield [isArray ? `[${key}]` : `.${key}`, value];
}

function refusalOf(value: unknown): unknown {
  try {
    structuredClone(value);
    return undefined;
  } catch (error) {
    return error ?? new Error('refused');
  }
}
