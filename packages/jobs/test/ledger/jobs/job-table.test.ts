import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Job } from '#src/ledger/jobs/job.js';
import { JobTable } from '#src/ledger/jobs/job-table.js';
import { endedJob, ORDINARY, randomFields } from './random-ended-job.js';

const tables = suite('job table');

/** The fields that callers read of a template. */
function templateFields(job: Job | undefined): unknown {
  return job === undefined ? undefined : [job.policy, job.client, job.key, job.state];
}

tables('a job reads the same before and after its page is archived', () => {
  void fc.assert(
    fc.property(
      fc.array(randomFields, { minLength: 300, maxLength: 400, size: 'max' }),
      fc.array(fc.nat(399), { maxLength: 40 }),
      (all, removed) => {
        const table = new JobTable();
        const expected = new Map<number, Job>();
        // Beyond 32 bits, and not at the beginning of a page.
        const first = 2 ** 33 + 5;
        for (const [i, one] of all.entries()) {
          const no = first + i;
          table.add(endedJob(no, one));
          expected.set(no, endedJob(no, one));
        }
        const remove = (index: number): void => {
          if (expected.delete(first + index)) table.remove(first + index);
        };
        // Some are removed before the others have ended, some after.
        removed.slice(0, 20).forEach(remove);
        for (const i of all.keys()) table.jobEnded(first + i);
        removed.slice(20).forEach(remove);
        assert.is(table.size, expected.size);
        assert.equal([...table.values()], [...expected.values()]);
        for (const i of all.keys()) {
          const job = expected.get(first + i);
          assert.equal(table.get(first + i), job);
          assert.equal(table.resultOf(first + i), job?.end?.result);
          assert.equal(templateFields(table.templateOf(first + i)), templateFields(job));
        }
      },
    ),
    { numRuns: 30 },
  );
});

tables('a walk continues where it was while its page is archived', () => {
  const table = new JobTable();
  for (let no = 1; no < 256; no += 1) table.add(endedJob(no, ORDINARY));
  const walk = table.after(129);
  const seen = [walk.next().value?.no, walk.next().value?.no];
  for (let no = 128; no < 256; no += 1) table.jobEnded(no);
  table.remove(132);
  for (const job of walk) seen.push(job.no);
  const all = Array.from({ length: 126 }, (_, i) => 130 + i).filter((no) => no !== 132);
  assert.equal(seen, all);
});

tables('`unended()` yields every live job and skips archived pages', () => {
  const table = new JobTable();
  for (let no = 1; no < 1_000; no += 1) table.add(endedJob(no, ORDINARY));
  for (let no = 1; no < 1_000; no += 1) if (no !== 400) table.jobEnded(no);
  const walked = Array.from(table.unended(), ({ no }) => no);
  assert.ok(walked.includes(400));
  // The first page has no number 0 and the last is not full, so neither is archived.
  const isExpected = (no: number): boolean => no < 128 || (no >= 384 && no < 512) || no >= 896;
  assert.equal(
    walked.filter((no) => !isExpected(no)),
    [],
  );
  assert.is(walked.length, 127 + 128 + 104);
});

tables.run();
