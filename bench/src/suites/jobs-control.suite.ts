import type { Suite } from '../runner/suite.js';
import { missingPeer } from './jobs/job-system.js';
import { dispatch } from './jobs-control/dispatch.js';
import { explain } from './jobs-control/explain.js';
import { besidePeer } from './jobs-control/peers.js';
import { runBesideSchedules, scheduleMemory, scheduleResidentMemory } from './jobs-control/schedules.js';
import { search } from './jobs-control/search.js';

const SIZES = [10_000, 100_000, 1_000_000];

export const suite: Suite = {
  name: 'jobs-control',
  title:
    'control over jobs: order, search and explain by the size of the queue, schedules, beside BullMQ and pg-boss (fsync before every reply)',
  systems: ['troupe', 'fifo', 'bullmq', 'pg-boss'],
  missingIsSkipped: true,
  cases: [
    ...SIZES.map(dispatch),
    ...SIZES.map(explain),
    ...SIZES.map(search),
    scheduleMemory(100_000),
    scheduleResidentMemory(100_000),
    runBesideSchedules(100_000),
    besidePeer('priorities', 'bullmq'),
    besidePeer('keys', 'pg-boss'),
  ],
  missing: missingPeer,
};
