import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Job } from '#src/ledger/jobs/job.js';
import { JobHeap } from '#src/ledger/jobs/job-heap.js';
import { StoredPolicy } from '#src/ledger/jobs/stored-policy.js';
import { policyOf } from '../random-records.js';

const heap = suite('job heap');

const policy = new StoredPolicy(1, policyOf('one'));

heap('jobs are popped by time, then by number, and removed ones are not', () => {
  const entries = fc.array(fc.tuple(fc.nat(20), fc.boolean()), { maxLength: 200, size: 'max' });
  void fc.assert(
    fc.property(entries, (all) => {
      const timed = new JobHeap();
      const jobs = all.map(([time, isRemoved], no) => ({
        time,
        isRemoved,
        job: new Job(no, policy, 'ann', 0, '', '', 0),
      }));
      for (const { time, job } of jobs) timed.push(time, job);
      for (const { isRemoved, job } of jobs) if (isRemoved) timed.remove(job);
      const kept = jobs.filter((one) => !one.isRemoved);
      const expected = kept.sort((a, b) => a.time - b.time || a.job.no - b.job.no).map(({ job }) => job.no);
      assert.is(timed.nextAt, kept[0]?.time ?? Number.POSITIVE_INFINITY);
      const got: number[] = [];
      for (let job = timed.pop(); job !== undefined; job = timed.pop()) got.push(job.no);
      assert.equal(got, expected);
      for (const { job } of jobs) timed.remove(job);
      assert.is(timed.size, 0);
    }),
  );
});

heap.run();
