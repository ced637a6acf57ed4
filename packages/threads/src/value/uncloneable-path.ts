import { NotCloneableError } from '../thread/thread-errors.js';
import { messageOf } from './message-of.js';
import { isBeside, isRefused } from './node-value-kinds.js';

/**
 * The error for a value that could not be written, with the path of the first field that is the reason:
 * `payload.rows[3].format`.
 */
export function pathOfUncloneable(
  value: unknown,
  what: string,
  refs: { isRef(value: object): boolean },
  cause: unknown,
): NotCloneableError {
  const open: { readonly path: string; readonly value: unknown }[] = [{ path: what, value }];
  const seen = new Set<unknown>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path } = next;
    if (typeof next.value === 'function' || typeof next.value === 'symbol')
      return new NotCloneableError(path, `a ${typeof next.value}`);
    if (typeof next.value !== 'object' || next.value === null || seen.has(next.value)) continue;
    const object = next.value;
    seen.add(object);
    if (isRefused(object)) return new NotCloneableError(path, `a ${object.constructor.name}`);
    if (refs.isRef(object) || isBeside(object) || ArrayBuffer.isView(object)) continue;
    for (const [step, field] of fieldsOf(object).reverse()) open.push({ path: path + step, value: field });
  }
  return new NotCloneableError(what, messageOf(cause));
}

function fieldsOf(object: object): [step: string, value: unknown][] {
  try {
    if (object instanceof Map)
      return [...object].flatMap(([key, value]): [string, unknown][] => [
        ['.keys()', key],
        [`.get(${String(key)})`, value],
      ]);
    if (object instanceof Set) return [...object].map((value) => ['.values()', value]);
    const isArray = Array.isArray(object);
    const fields = Object.entries(object).map(([key, value]): [string, unknown] => [
      isArray ? `[${key}]` : `.${key}`,
      value,
    ]);
    if (object instanceof Error && Object.hasOwn(object, 'cause')) fields.push(['.cause', object.cause]);
    return fields;
  } catch (thrown) {
    // A getter that throws: the field itself is the reason.
    return [[`: ${messageOf(thrown)}`, Symbol('a getter that throws')]];
  }
}
