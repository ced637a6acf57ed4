import type { StandardSchemaV1 } from '@standard-schema/spec';
import { JobSchemaError, type SchemaIssue, type SchemaSide } from '../../jobs-error.js';

/**
 * The value after its schema; synchronous if the schema is. Throws or rejects with {@link JobSchemaError}.
 */
export function validateBySchema<S extends StandardSchemaV1>(
  exec: string,
  side: SchemaSide,
  schema: S,
  value: unknown,
): StandardSchemaV1.InferOutput<S> | Promise<StandardSchemaV1.InferOutput<S>> {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) return result.then((resolved) => outcome(exec, side, resolved));
  return outcome(exec, side, result);
}

function outcome<T>(exec: string, side: SchemaSide, result: StandardSchemaV1.Result<T>): T {
  if (result.issues === undefined) return result.value;
  throw new JobSchemaError(exec, side, result.issues.map(plainIssue));
}

function plainIssue(issue: StandardSchemaV1.Issue): SchemaIssue {
  const path = (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
  return { path, message: issue.message };
}
