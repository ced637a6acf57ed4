import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A Standard Schema from a function that finds the problem of a value. */
export function checkedSchema<T>(problemOf: (value: unknown) => string | undefined): StandardSchemaV1<T, T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'troupe',
      validate: (value) => {
        const message = problemOf(value);
        return message === undefined ? { value: value as T } : { issues: [{ message }] };
      },
    },
  };
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** An object whose values are texts. */
export function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isText)
  );
}
