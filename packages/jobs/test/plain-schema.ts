import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A Standard Schema from a predicate: enough for tests, and no dependency. */
export function schema<T>(name: string, accepts: (value: unknown) => boolean): StandardSchemaV1<T, T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) =>
        accepts(value) ? { value: value as T } : { issues: [{ message: `not a ${name}` }] },
    },
  };
}

export const aString = schema<string>('string', (value) => typeof value === 'string');
export const aNumber = schema<number>('number', (value) => typeof value === 'number');
export const anything = schema<unknown>('value', () => true);
