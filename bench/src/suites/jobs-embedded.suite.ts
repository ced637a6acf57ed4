import type { Suite } from '../runner/suite.js';
import { runUnderBacklog } from './jobs-embedded/backlog.js';
import { expiry } from './jobs-embedded/expiry.js';
import { queuedMemory, restart } from './jobs-embedded/queued-jobs.js';
import { runLoop, submitLoop } from './jobs-embedded/throughput.js';

export const suite: Suite = {
  name: 'jobs-embedded',
  title:
    'jobs in one process: durable submit → run → durable ack, cost under a backlog, memory, restart (fsync before every reply)',
  systems: ['troupe', 'floor', 'log'],
  cases: [
    runLoop(100_000, 1_000),
    runLoop(40_000, 200),
    submitLoop(100_000, 1_000),
    runUnderBacklog(1_000),
    runUnderBacklog(10_000),
    runUnderBacklog(100_000),
    runUnderBacklog(1_000_000),
    queuedMemory(1_000_000),
    restart(1_000_000),
    expiry(1_000_000),
  ],
};
