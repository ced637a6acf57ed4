// The records that an ordinary run of a leader seldom writes, as the lines of `troupe wal load`.
import { Count, Talk } from './golden-jobs.js';

const AT = 1_795_100_000_000;
const failure = { name: 'Error', message: 'not yet' };
const client = 'golden';
const feeder = 'golden token';

let seq = 0;

function enqueue(job: number, policy: number, more: object = {}): object {
  seq += 1;
  return { type: 'enqueue', producer: 1, seq, low: 0, job, policy, payload: job, ...more };
}

const records: readonly object[] = [
  { type: 'genesis', tag: 'rare1' },
  { type: 'limits', resultsMax: 250_000, resultsBytesMax: 268_435_456, keyWindowMs: 86_400_000 },
  { type: 'policy', no: 1, policy: Count.policy },
  { type: 'policy', no: 2, policy: { ...Talk.policy, streaming: 'response', stream: Talk.stream } },
  { type: 'policy', no: 3, policy: { ...Count.policy, priority: 9 } },
  { type: 'policy_drop', policies: [3] },
  { type: 'producer', producer: 1, client, token: 'token' },
  { type: 'producer', producer: 2, client, token: 'closed' },
  { type: 'producer_drop', producers: [2] },
  // A job that every kind of requeue has met; its key is held.
  enqueue(1, 1, { key: 'held', holdsKey: true }),
  { type: 'assign', job: 1, attempt: 1, worker: 'w~1' },
  { type: 'retry', job: 1, attempt: 1, failure },
  { type: 'assign', job: 1, attempt: 2, worker: 'w~1' },
  { type: 'timeout_requeue', job: 1, attempt: 2, failure },
  { type: 'assign', job: 1, attempt: 3, worker: 'w~1' },
  { type: 'worker_down_requeue', job: 1, attempt: 3 },
  { type: 'assign', job: 1, attempt: 4, worker: 'w~2' },
  { type: 'release', job: 1, attempt: 4 },
  // Two dead letters: one is redriven, one is purged.
  enqueue(2, 1),
  enqueue(3, 1),
  { type: 'assign', job: 2, attempt: 1, worker: 'w~2' },
  { type: 'assign', job: 3, attempt: 1, worker: 'w~2' },
  { type: 'dlq', job: 2, attempt: 1, reason: 'failed', failure },
  { type: 'dlq', job: 3, attempt: 1, reason: 'failed', failure },
  { type: 'redrive', jobs: [2], by: client },
  { type: 'purge', jobs: [3], by: client },
  // A feed that was dropped in part and abandoned, and one that waits.
  enqueue(4, 2),
  { type: 'feed', job: 4, feeder, first: 0, items: [{ payload: 'one ' }, { payload: 'two' }] },
  { type: 'assign', job: 4, attempt: 1, worker: 'w~2' },
  { type: 'feed_drop', job: 4, below: 1 },
  { type: 'feed_end', job: 4 },
  { type: 'ack', job: 4, attempt: 1, result: 'one two', chunks: 2 },
  enqueue(5, 2),
  { type: 'feed', job: 5, feeder, first: 0, items: [{ payload: 'one ' }, { payload: 'two' }], final: true },
  enqueue(6, 1, { key: 'released', holdsKey: true }),
  { type: 'key_release', optional: true, keys: ['golden.count/released'] },
  { type: 'spill_file', optional: true, file: 1 },
  { type: 'spill_file', optional: true, file: 2 },
  { type: 'spill_drop', optional: true, files: [1] },
  { type: 'tick' },
];

export const RARE_LINES: readonly string[] = records.map((record, index) =>
  JSON.stringify({ at: AT + index, ...record }),
);
