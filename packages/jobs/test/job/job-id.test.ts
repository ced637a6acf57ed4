import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { jobId, parseJobId } from '#src/job/job-id.js';

const ids = suite('job id');

ids('an id parses to its number', () => {
  for (const job of [1, 35, 36, 2 ** 31, 2 ** 40]) assert.is(parseJobId('k3f9a', jobId('k3f9a', job)), job);
});

ids('an id of another folder, or no id at all, is foreign', () => {
  for (const id of ['other-1', 'k3f9a', 'k3f9a-', 'k3f9a-0', 'k3f9a--1', 'k3f9a-1x!', '', 'k3f9a-01', '-1']) {
    assert.throws(
      () => parseJobId('k3f9a', id),
      (error: unknown) => (error as { code: string }).code === 'ERR_JOB_FOREIGN',
      id,
    );
  }
});

ids.run();
