import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Job, Policy } from '#src/ledger/job.js';
import { JobTable } from '#src/ledger/job-table.js';
import { Echo } from '../network/trial-jobs.js';

const tables = suite('job table');
const POLICIES = [new Policy(1, Echo.spec), new Policy(2, Echo.spec)];
const FAILURES = [undefined, { name: 'Error', message: 'no' }];

/** What differs between jobs is drawn from few values, so that neighbours are alike now and then. */
const traits = fc.record({
  policy: fc.constantFrom(...POLICIES),
  client: fc.constantFrom('ann', 'bob'),
  key: fc.constantFrom('', '', 'k'),
  dueAt: fc.constantFrom(0, 0, 7.5),
  state: fc.constantFrom('done' as const, 'done' as const, 'cancelled' as const),
  attempt: fc.constantFrom(1, 2),
  failures: fc.constantFrom(0, 1),
  crashes: fc.constantFrom(0, 1),
  result: fc.constantFrom(undefined, 'null', '"x"', new Uint8Array([1, 2])),
  reason: fc.constantFrom('', 'why'),
  failure: fc.constantFrom(...FAILURES),
});

type Traits = typeof traits extends fc.Arbitrary<infer T> ? T : never;

function endedJob(no: number, of: Traits): Job {
  const job = new Job(no, of.policy, of.client, no + 0.5, of.key, '', of.dueAt);
  job.state = of.state;
  job.attempt = of.attempt;
  job.failures = of.failures;
  job.crashes = of.crashes;
  job.end = { at: no + 100, result: of.result, reason: of.reason, failure: of.failure };
  return job;
}

tables('a job is what it was, also when all of its page have ended', () => {
  void fc.assert(
    fc.property(
      fc.array(traits, { minLength: 300, maxLength: 400, size: 'max' }),
      fc.array(fc.nat(399), { maxLength: 40 }),
      (all, leaving) => {
        const table = new JobTable();
        const expected = new Map<number, Job>();
        // From beyond 32 bits on, and not from the beginning of a page.
        const first = 2 ** 33 + 5;
        for (const [i, one] of all.entries()) {
          const no = first + i;
          table.add(endedJob(no, one));
          expected.set(no, endedJob(no, one));
        }
        const leave = (place: number): void => {
          if (expected.delete(first + place)) table.remove(first + place);
        };
        // Some go before the others have ended, some after.
        leaving.slice(0, 20).forEach(leave);
        for (const i of all.keys()) table.jobEnded(first + i);
        leaving.slice(20).forEach(leave);
        assert.is(table.size, expected.size);
        assert.equal([...table.values()], [...expected.values()]);
        for (const i of all.keys()) assert.equal(table.get(first + i), expected.get(first + i));
      },
    ),
    { numRuns: 30 },
  );
});

tables('a walk goes on where it was while its page is put away', () => {
  const table = new JobTable();
  const plain = { policy: POLICIES[0] as Policy, client: 'ann', key: '', dueAt: 0, state: 'done' } as const;
  const rest = {
    attempt: 1,
    failures: 0,
    crashes: 0,
    result: 'null',
    reason: '',
    failure: undefined,
  } as const;
  for (let no = 1; no < 256; no += 1) table.add(endedJob(no, { ...plain, ...rest }));
  const walk = table.after(129);
  const seen = [walk.next().value?.no, walk.next().value?.no];
  for (let no = 128; no < 256; no += 1) table.jobEnded(no);
  table.remove(132);
  for (const job of walk) seen.push(job.no);
  const all = Array.from({ length: 126 }, (_, i) => 130 + i).filter((no) => no !== 132);
  assert.equal(seen, all);
});

tables.run();
