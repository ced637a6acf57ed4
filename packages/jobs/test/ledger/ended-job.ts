import * as fc from 'fast-check';
import { Job, StoredPolicy } from '#src/ledger/job.js';
import { Echo } from '../remote/sample-jobs.js';

export const POLICIES = [new StoredPolicy(1, Echo.policy), new StoredPolicy(2, Echo.policy)];
const FAILURES = [undefined, { name: 'Error', message: 'no' }];

/** What differs between jobs is drawn from few values, so that neighbours are alike now and then. */
export const traits = fc.record({
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
});

export type Traits = typeof traits extends fc.Arbitrary<infer T> ? T : never;

/** A job as most of them are. */
export const PLAIN: Traits = {
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
};

export function endedJob(no: number, of: Traits): Job {
  const job = new Job(no, of.policy, of.client, no + 0.5, of.key, '', of.dueAt);
  job.state = of.state;
  job.attempt = of.attempt;
  job.failures = of.failures;
  job.crashes = of.crashes;
  job.end = { at: no + 100, result: of.result, reason: of.reason, failure: of.failure };
  return job;
}
