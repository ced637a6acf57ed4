import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JobDefinition } from '../../job/definition/define-job.js';

const EMPTY_TEXT = '';
const EMPTY_BYTES = new Uint8Array(0);
const EMPTY_LIST: readonly unknown[] = [];

/**
 * The output of a stream without a chunk and without `collect`: an empty text, bytes or list, whichever the
 * chunks would have been joined to, as far as the schemas tell.
 */
export async function emptyOutput({ chunk, output }: JobDefinition): Promise<unknown> {
  const isText = await accepts(chunk, EMPTY_TEXT);
  const isBytes = await accepts(chunk, EMPTY_BYTES);
  const likely = [...(isText ? [EMPTY_TEXT] : []), ...(isBytes ? [EMPTY_BYTES] : []), EMPTY_LIST];
  for (const value of [...likely, EMPTY_TEXT, EMPTY_BYTES]) if (await accepts(output, value)) return value;
  return undefined;
}

async function accepts(schema: StandardSchemaV1 | undefined, value: unknown): Promise<boolean> {
  const result = await schema?.['~standard'].validate(value);
  return result !== undefined && result.issues === undefined;
}
