import * as fc from 'fast-check';
import { Job } from '#src/ledger/jobs/job.js';
import { StoredPolicy } from '#src/ledger/jobs/stored-policy.js';
import { Echo } from '../../remote/sample-jobs.js';

export const POLICIES = [new StoredPolicy(1, Echo.policy), new StoredPolicy(2, Echo.policy)];
const FAILURES = [undefined, { name: 'Error', message: 'no' }];

/** Fields of a job, drawn from few values, so that neighbours often share a template. */
export const randomFields = fc.record({
  policy: fc.constantFrom(...POLICIES),
  client: fc.constantFrom('ann', 'bob'),
  key: fc.constantFrom('', '', 'k'),
  dueAt: fc.constantFrom(0, 0, 7.5),
  state: fc.constantFrom('done' as const, 'done' as const, 'cancelled' as const),
  attempt: fc.constantFrom(1, 2),
  failures: fc.constantFrom(0, 1),
  crashes: fc.constantFrom(0, 1),
  result: fc.constantFrom(undefined, 'null', '"x"', new Uint8Array([200, 201])),
  reason: fc.constantFrom('', 'why'),
  failure: fc.constantFrom(...FAILURES),
  chunks: fc.constantFrom(undefined, undefined, 0, 7),
  metadata: fc.constantFrom(undefined, undefined, '{}'),
});

export type EndedJobFields = typeof randomFields extends fc.Arbitrary<infer T> ? T : never;

/** The fields of an ordinary job. */
export const ORDINARY: EndedJobFields = {
  policy: POLICIES[0] as StoredPolicy,
  client: 'ann',
  key: '',
  dueAt: 0,
  state: 'done',
  attempt: 1,
  failures: 0,
  crashes: 0,
  result: 'null',
  reason: '',
  failure: undefined,
  chunks: undefined,
  metadata: undefined,
};

export function endedJob(no: number, fields: EndedJobFields): Job {
  const job = new Job(no, fields.policy, fields.client, no + 0.5, fields.key, '', fields.dueAt);
  job.state = fields.state;
  job.attempt = fields.attempt;
  job.failures = fields.failures;
  job.crashes = fields.crashes;
  job.chunks = fields.chunks;
  const { result, reason, failure, metadata } = fields;
  job.end = { at: no + 100, result, reason, failure, ...(metadata === undefined ? {} : { metadata }) };
  return job;
}
