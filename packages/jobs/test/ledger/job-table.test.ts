import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Job } from '#src/ledger/job.js';
import { JobTable } from '#src/ledger/job-table.js';
import { endedJob, PLAIN, traits } from './random-ended-job.js';

const tables = suite('job table');

/** What a job has in common with one that it is like, as far as anybody asks. */
function shared(job: Job | undefined): unknown {
  return job === undefined ? undefined : [job.policy, job.client, job.key, job.state];
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
        for (const i of all.keys()) {
          const job = expected.get(first + i);
          assert.equal(table.get(first + i), job);
          assert.equal(table.resultOf(first + i), job?.end?.result);
          assert.equal(shared(table.templateOf(first + i)), shared(job));
        }
      },
    ),
    { numRuns: 30 },
  );
});

tables('a walk goes on where it was while its page is put away', () => {
  const table = new JobTable();
  for (let no = 1; no < 256; no += 1) table.add(endedJob(no, PLAIN));
  const walk = table.after(129);
  const seen = [walk.next().value?.no, walk.next().value?.no];
  for (let no = 128; no < 256; no += 1) table.jobEnded(no);
  table.remove(132);
  for (const job of walk) seen.push(job.no);
  const all = Array.from({ length: 126 }, (_, i) => 130 + i).filter((no) => no !== 132);
  assert.equal(seen, all);
});

tables('a walk over those that have not ended passes none of them over, and no page of others in', () => {
  const table = new JobTable();
  for (let no = 1; no < 1_000; no += 1) table.add(endedJob(no, PLAIN));
  for (let no = 1; no < 1_000; no += 1) if (no !== 400) table.jobEnded(no);
  const walked = Array.from(table.unended(), ({ no }) => no);
  assert.ok(walked.includes(400));
  // The first page lacks number 0, the last has room for more: neither is full of ended ones.
  const isExpected = (no: number): boolean => no < 128 || (no >= 384 && no < 512) || no >= 896;
  assert.equal(
    walked.filter((no) => !isExpected(no)),
    [],
  );
  assert.is(walked.length, 127 + 128 + 104);
});

tables.run();
