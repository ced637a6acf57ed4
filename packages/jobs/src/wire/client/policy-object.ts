import { ANY } from '../../job/definition/any-schema.js';
import { defineJob } from '../../job/definition/define-job.js';
import type { JobPolicy } from '../../job/definition/job-policy.js';
import { JobDefinitionError } from '../../jobs-error.js';
import type { UnsupportedPolicy } from '../../protocol/client/client-messages.js';

/** Made again by `defineJob`, so a policy from outside has passed the same checks as one from inside. */
export function readPolicyObject(raw: Readonly<Record<string, unknown>>): JobPolicy | UnsupportedPolicy {
  const { exec, ...options } = raw;
  try {
    return defineJob(exec as string, { ...options, ...schemasOf(options), input: ANY, output: ANY }).policy;
  } catch (error) {
    if (error instanceof JobDefinitionError) return { problem: error.message };
    throw error;
  }
}

/** Limits of a feed stand for its schema, which stays with client and worker. */
function schemasOf({ limits }: Record<string, unknown>): {
  readonly feed?: typeof ANY;
  readonly chunk?: typeof ANY;
} {
  const { feedBytesMax } = (limits ?? {}) as JobPolicy['limits'];
  return feedBytesMax === undefined ? {} : { feed: ANY, chunk: ANY };
}
