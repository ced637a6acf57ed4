import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Job } from '#src/ledger/jobs/job.js';
import { EarlierRuns } from '#src/ledger/schedules/earlier-runs.js';

const earlier = suite('earlier runs of schedules');

/** By number; any other job is not kept. */
function jobsOf(states: Readonly<Record<number, Job['state']>>) {
  const get = (no: number): Job | undefined => {
    const state = states[no];
    const end = state === 'queued' || state === 'running' ? undefined : { at: 1, reason: '' };
    return state === undefined ? undefined : ({ no, state, end } as Job);
  };
  return { get };
}

earlier('live jobs and dead letters are kept, and leave with the next run when they are over', () => {
  const runs = new EarlierRuns();
  runs.add('night', 1, jobsOf({ 1: 'running' }));
  runs.add('night', 2, jobsOf({ 1: 'running', 2: 'dead' }));
  runs.add('night', 3, jobsOf({ 1: 'running', 2: 'dead', 3: 'queued' }));
  assert.equal([runs.of('night'), runs.of('day')], [[1, 2, 3], []]);
  runs.add('night', 4, jobsOf({ 1: 'done', 2: 'dead', 3: 'cancelled' }));
  assert.equal(runs.of('night'), [2]);
  runs.add('night', 5, jobsOf({ 5: 'done' }));
  assert.equal([...runs.entries()], [], 'a schedule without any costs nothing');
});

earlier('a schedule keeps a bounded number of them, the latest', () => {
  const runs = new EarlierRuns();
  const jobs = { get: (no: number) => ({ no, state: 'dead', end: { at: 1, reason: '' } }) as Job };
  for (let no = 1; no <= 1_003; no += 1) runs.add('night', no, jobs);
  assert.equal([runs.of('night').length, runs.of('night')[0]], [1_000, 4]);
});

earlier.run();
