import { nodeHost } from '@troupe/core';
import type { JobDefinition, JobInput } from '../../job/definition/define-job.js';
import type { JobPolicy } from '../../job/definition/job-policy.js';
import { type Payload, payloadText } from '../../job/payload/payload.js';
import type { TraceContext } from '../../job/trace-context.js';
import { JobDefinitionError } from '../../jobs-error.js';
import { emptyItem } from '../machine/submit-draft.js';
import { type SubmitOptions, SubmitPreparer } from './submit-preparer.js';

/** A submit as data: JSON can hold it, and a client can make a job of it later. */
export interface DetachedSubmit {
  readonly policy: JobPolicy;
  /** The input as JSON text. */
  readonly payload: string;
  /** Empty: it has none. */
  readonly key: string;
  readonly runAfterMs?: number | undefined;
  /** Milliseconds since 1970. */
  readonly runAt?: number | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly orderKey?: string | undefined;
  readonly trace?: TraceContext | undefined;
}

/** A submit that does not go through a client: checked and encoded as by `client.submit`. */
export async function detachedSubmit<D extends JobDefinition>(
  job: D,
  input: JobInput<D>,
  options: Omit<SubmitOptions, 'withinMs' | 'signal' | 'holdKey'>,
): Promise<DetachedSubmit> {
  let policy: JobPolicy | undefined;
  const define = (definition: { readonly policy: JobPolicy }): void => {
    policy = definition.policy;
  };
  const preparer = new SubmitPreparer({ payloadBytesMax: Number.POSITIVE_INFINITY }, define, () =>
    nodeHost.wallNow(),
  );
  const draft = emptyItem();
  await preparer.encode(draft, job, input, options);
  if (policy === undefined) throw new JobDefinitionError('submit', 'its definition has no policy');
  const { payload, key, delayMs, runAt, tags, orderKey } = draft;
  const { trace } = options;
  // An instant stays one: the time until a client takes the submit is not known.
  const when = runAt === undefined ? { runAfterMs: delayMs === 0 ? undefined : delayMs } : { runAt };
  return { policy, payload: jsonOf(job, payload), key, ...when, tags, orderKey, trace };
}

/** Bytes are no JSON: they would need another way. */
function jsonOf({ exec }: JobDefinition, payload: Payload): string {
  const text = payloadText(payload);
  if (text.startsWith('\0')) throw new JobDefinitionError(`job '${exec}'`, 'its input is bytes, not JSON');
  return text;
}
