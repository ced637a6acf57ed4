import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { JobIndex } from '#src/leader/search/job-index.js';

const index = suite('job index');

index(
  'a page that was dropped and made again is found by its next job, also of the same exec and client',
  () => {
    const pages = new Set([0]);
    const jobs = new JobIndex({
      jobs: { hasPage: (page: number) => pages.has(page) },
      tags: { size: 0, of: () => [] },
    } as unknown as ConstructorParameters<typeof JobIndex>[0]);
    const job = { policy: { exec: 'mail' }, client: 'ann/shop', key: '', orderKey: '' } as Parameters<
      JobIndex['add']
    >[1];
    jobs.add(1, job);
    assert.equal([jobs.pagesOf({ tenant: 'ann' }), jobs.pagesOf({ exec: 'mail' })], [[0], [0]]);
    pages.delete(0);
    jobs.sweep();
    assert.equal(jobs.pagesOf({ tenant: 'ann' }), []);
    pages.add(0);
    jobs.add(2, job);
    assert.equal([jobs.pagesOf({ tenant: 'ann' }), jobs.pagesOf({ exec: 'mail' })], [[0], [0]]);
  },
);

index.run();
