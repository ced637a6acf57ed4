import type { Case, Suite } from '../runner/suite.js';
import { CHUNK_BYTES, chunkTrial } from './streaming/chunk-trial.js';
import { firstChunkTrial } from './streaming/first-chunk-trial.js';
import { memoryTrial } from './streaming/memory-trial.js';
import { pacedTrial } from './streaming/paced-trial.js';
import { plainJobsTrial } from './streaming/plain-jobs-trial.js';
import { missingStreamPeer, STREAM_PEERS } from './streaming/stream-peers.js';

/** Plain jobs of Troupe, one result each, in the same run. */
const PLAIN_JOBS = 'plain-jobs';
const OUTSTANDING_JOBS = 4_000;
const repeat = { warmups: 3, iterations: 3, budgetMs: 20_000 };
const timeoutMs = 300_000;
const UNIQUE = 'every chunk has its own number and text, which the reader checks';
const PROCESSES = 'leader or server, worker and reader are three processes';

function scaled(count: number, scale: number): number {
  return Math.max(10, Math.round(count * scale));
}

const chunks: Case = {
  benchmark: 'chunks',
  unit: 'chunks',
  note: `one stream of ${CHUNK_BYTES}-byte chunks whose reader keeps up (plain-jobs: jobs a second of end-to-end in the same run, ${OUTSTANDING_JOBS} outstanding, durable); ${UNIQUE}; ${PROCESSES}; Redis Streams without persistence, XADD pipelined, XREAD with COUNT; NATS core stores nothing; troupe numbers chunks, keeps them for late readers and gives credit`,
  systems: ['troupe', PLAIN_JOBS, ...STREAM_PEERS],
  repeat,
  timeoutMs,
  prepare: ({ system, scale }) =>
    system === PLAIN_JOBS
      ? plainJobsTrial(scaled(200_000, scale), OUTSTANDING_JOBS)
      : chunkTrial(system, scaled(STREAM_PEERS.includes(system) ? 200_000 : 1_000_000, scale)),
};

const firstChunk: Case = {
  benchmark: 'first-chunk',
  unit: 'jobs',
  headline: 'p50',
  note: `one job at a time, submit → first chunk at the reader (plain-jobs: submit → result), after a warm-up of up to 5,000 jobs; ${UNIQUE}; ${PROCESSES}; fsync before every acknowledgement`,
  systems: ['troupe', PLAIN_JOBS],
  repeat: { warmups: 5, iterations: 5, budgetMs: 20_000 },
  timeoutMs,
  prepare: ({ system, scale }) =>
    system === PLAIN_JOBS ? plainJobsTrial(scaled(1_000, scale), 1) : firstChunkTrial(scaled(1_000, scale)),
};

const gigabyte: Case = {
  benchmark: 'gigabyte',
  unit: 'MB',
  note: `1 GB of 8,192-byte chunks through a leader with a heap of 128 MB, MB a second; rssMb100 and rssMb1000: resident MB of the leader after 100 MB and after 1 GB; ${UNIQUE}; ${PROCESSES}`,
  systems: ['troupe'],
  repeat: { warmups: 0, iterations: 1, budgetMs: 60_000 },
  timeoutMs,
  prepare: ({ scale }) => memoryTrial(scaled(1_000, scale)),
};

const thousandStreams: Case = {
  benchmark: 'thousand-streams',
  unit: 'chunks',
  headline: 'p99',
  note: `1,000 streams at once with ten chunks a second each, for ten seconds; latency from the moment at which a chunk was due in the worker to its reader; leaderCores: processor time of the leader by time; every reader checks the numbers; ${PROCESSES}`,
  systems: ['troupe'],
  repeat: { warmups: 1, iterations: 2, budgetMs: 60_000 },
  timeoutMs,
  prepare: ({ scale }) => pacedTrial({ streams: scaled(1_000, scale), chunks: 100, periodMs: 100 }),
};

export const suite: Suite = {
  name: 'streaming',
  title:
    'streams out of jobs: chunks a second, first chunk, memory, a thousand streams; beside Redis Streams and NATS',
  systems: ['troupe', PLAIN_JOBS, ...STREAM_PEERS],
  missingIsSkipped: true,
  cases: [chunks, firstChunk, gigabyte, thousandStreams],
  missing: missingStreamPeer,
};
