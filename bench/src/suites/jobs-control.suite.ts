import type { Suite } from '../runner/suite.js';
import { runBesideSchedules, scheduleMemory } from './jobs-control/schedules.js';
import { searchIndexed } from './jobs-control/search.js';

export const suite: Suite = {
  name: 'jobs-control',
  title: 'control over jobs in one process: search among queued jobs, schedules (fsync before every reply)',
  systems: ['troupe'],
  cases: [searchIndexed(1_000_000), scheduleMemory(100_000), runBesideSchedules(100_000)],
};
