import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defineJob } from '@troupe/jobs';

export interface Task {
  readonly path: string;
  readonly what: 'sha256' | 'words' | 'longest line';
}

const isTask = (value: unknown): value is Task =>
  typeof value === 'object' && value !== null && 'path' in value && typeof value.path === 'string';
const isText = (value: unknown): value is string => typeof value === 'string';

/** Inspects one file of this repository. */
export const Inspect = defineJob('repo.inspect', {
  input: schema('task', isTask),
  output: schema('text', isText),
  retry: { baseMs: 50 },
});

/** A Standard Schema from a predicate; any schema library works as well. */
function schema<T>(name: string, accepts: (value: unknown) => value is T): StandardSchemaV1<T, T> {
  const validate = (value: unknown): StandardSchemaV1.Result<T> =>
    accepts(value) ? { value } : { issues: [{ message: `not a ${name}` }] };
  return { '~standard': { version: 1, vendor: 'example', validate } };
}
