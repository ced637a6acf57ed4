import { existsSync } from 'node:fs';
import type { Case, Suite, Trial } from '../runner/suite.js';
import { missingClient } from './jobs/job-system.js';
import { PayloadSource } from './jobs/payload-source.js';
import { runLoad } from './jobs/run-load.js';
import { DATABASE_PEERS, FILE_LOG, openOnDatabase } from './postgres/database-system.js';
import { followerTrial } from './postgres/follower-trial.js';
import { groupTrial } from './postgres/group-trial.js';
import { SIDES, submitInTrial } from './postgres/submit-in-trial.js';
import { takeOverTrial } from './postgres/take-over-trial.js';

const SYSTEMS = ['troupe', FILE_LOG, ...DATABASE_PEERS];
const HAND_OVER = 'hand-over';
const SERVER =
  'a primary and one synchronous standby with fsync on private folders, both on the disk of this machine; file-log: the log of the leader in a folder';
const timeoutMs = 300_000;

function scaled(count: number, scale: number): number {
  return Math.max(10, Math.round(count * scale));
}

async function trial(system: string, jobs: number, outstanding: number): Promise<Trial> {
  const opened = await openOnDatabase(system, outstanding);
  const payloads = new PayloadSource(100);
  return {
    run: () => runLoad(opened.run, () => payloads.next(), { jobs, outstanding, bytes: 100 }),
    close: () => opened.close(),
  };
}

const endToEnd: Case = {
  benchmark: 'end-to-end',
  unit: 'jobs',
  note: `submit → assign → run → ack → result at the client, 4,000 outstanding, 100-byte payloads that all differ, every result is checked; one client and one worker process; ${SERVER}; peers in batches`,
  systems: SYSTEMS,
  repeat: { warmups: 2, iterations: 3, budgetMs: 20_000 },
  timeoutMs,
  prepare: ({ system, scale }) =>
    trial(system, scaled(DATABASE_PEERS.includes(system) ? 20_000 : 200_000, scale), 4_000),
};

const latency: Case = {
  benchmark: 'latency',
  unit: 'jobs',
  headline: 'p50',
  note: `one job at a time, submit → result; ${SERVER}`,
  systems: SYSTEMS,
  repeat: { warmups: 3, iterations: 3, budgetMs: 10_000 },
  timeoutMs,
  prepare: ({ system, scale }) => trial(system, scaled(1_000, scale), 1),
};

const submitInCase: Case = {
  benchmark: 'submit-in',
  unit: 'transactions',
  note: `transactions that insert an order and submit a job by submitIn, in turns with ones that insert the same bytes into a plain table; 8 connections; ${SERVER}`,
  systems: SIDES,
  repeat: { warmups: 1, iterations: 3, budgetMs: 20_000 },
  timeoutMs,
  prepare: ({ system, scale }) => submitInTrial(system, scaled(4_000, scale)),
};

const takeOver: Case = {
  benchmark: 'take-over',
  unit: 'take-overs',
  headline: 'p50',
  note: `kill -9 of the leader (${HAND_OVER}: SIGTERM) with 50 jobs under way → the next job is done, at a standby that follows; lease 1 s; every result is checked; ${SERVER}`,
  systems: ['troupe', HAND_OVER],
  repeat: { warmups: 0, iterations: 1, budgetMs: 60_000 },
  timeoutMs,
  prepare: ({ system, scale }) =>
    takeOverTrial(scaled(50, scale), system === HAND_OVER ? 'SIGTERM' : 'SIGKILL'),
};

const TWO_LEADERS = 'two-leaders';

const groups: Case = {
  benchmark: 'groups',
  unit: 'jobs',
  note: `two groups with one leader, or with one leader each (${TWO_LEADERS}) whose schemas are in one database; 4,000 outstanding, 100-byte payloads; one client and one worker process, as all else on this machine; ${SERVER}`,
  systems: ['troupe', TWO_LEADERS],
  repeat: { warmups: 2, iterations: 3, budgetMs: 20_000 },
  timeoutMs,
  prepare: ({ system, scale }) => groupTrial(system === TWO_LEADERS ? 2 : 1, scaled(200_000, scale), 4_000),
};

const FOLLOWED_RATE = 20_000;
const FOLLOWED_PERIODS = 1_000;

const follower: Case = {
  benchmark: 'follower',
  unit: 'jobs',
  note: `jobs submitted at 20,000 a second for ten seconds; standbyCores: processor time of the standby by time; standbyCoresAtRate: by jobs, times 20,000; ${SERVER}`,
  systems: ['troupe'],
  repeat: { warmups: 1, iterations: 2, budgetMs: 60_000 },
  timeoutMs,
  prepare: ({ scale }) => followerTrial(FOLLOWED_RATE, scaled(FOLLOWED_PERIODS, scale)),
};

export const suite: Suite = {
  name: 'postgres',
  title:
    'jobs with the log in PostgreSQL: end to end beside pg-boss and graphile-worker, take-over, submitIn',
  systems: [...SYSTEMS, 'bare-insert', HAND_OVER, TWO_LEADERS],
  missingIsSkipped: true,
  cases: [endToEnd, latency, submitInCase, takeOver, groups, follower],
  missing: missingOnDatabase,
};

/** The reason why a system cannot run here. */
function missingOnDatabase(system: string): string | undefined {
  if (!existsSync('/usr/lib/postgresql')) return `${system}: PostgreSQL is not installed`;
  return DATABASE_PEERS.includes(system) ? missingClient(system) : undefined;
}
