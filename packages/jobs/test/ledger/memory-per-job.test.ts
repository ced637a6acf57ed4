import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { JobQueues } from '#src/leader/dispatch/job-queues.js';
import { Ledger } from '#src/ledger/ledger.js';
import { firstRecords } from './random-records.js';

const memory = suite('memory per job');

const JOBS = 200_000;
const PAYLOAD_BYTES = 100;

function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

memory('a queued job costs at most 500 bytes beside its payload', () => {
  const ledger = new Ledger();
  const queues = new JobQueues(1, { isWaiting: () => true, waitsSince: () => 0, isRedriven: () => false });
  for (const record of firstRecords()) ledger.apply(record);
  const before = usedBytes();
  for (let job = 1; job <= JOBS; job += 1) {
    // Every job has its own string, as when it is decoded from the log.
    const payload = Buffer.alloc(PAYLOAD_BYTES, 97 + (job % 26)).toString('latin1');
    ledger.apply({
      type: 'enqueue',
      at: job,
      producer: 1,
      seq: job,
      low: job - 1,
      job,
      policy: 1,
      dueAt: 0,
      key: '',
      payload,
    });
    const queued = ledger.jobs.get(job);
    if (queued !== undefined) queues.add(queued, job);
  }
  const perJob = (usedBytes() - before) / JOBS - PAYLOAD_BYTES;
  assert.ok(perJob <= 500, `${perJob.toFixed(0)} bytes`);
  assert.is(ledger.counts.queued, JOBS);
  assert.ok(queues.takeQueue() !== undefined);
});

memory('a done job with the result of its neighbours costs at most 100 bytes', () => {
  // Every job has its own string, as when it is decoded from the log.
  const bytes = doneBytes(() => Buffer.from('null').toString('latin1'));
  assert.ok(bytes <= 100, `${bytes} bytes`);
});

function doneBytes(result: () => string): number {
  const ledger = new Ledger({ resultsMax: JOBS, resultsBytesMax: 2 ** 30, keyWindowMs: 1_000 });
  for (const record of firstRecords()) ledger.apply(record);
  const before = usedBytes();
  for (let job = 1; job <= JOBS; job += 1) {
    const at = 1 + job / JOBS;
    const head = { at, producer: 1, seq: job, low: job - 1, job, policy: 1, dueAt: 0, key: '' };
    ledger.apply({ type: 'enqueue', ...head, payload: '"x"' });
    ledger.apply({ type: 'assign', at, job, attempt: 1, worker: 'w' });
    ledger.apply({ type: 'ack', at, job, attempt: 1, result: result() });
  }
  const perJob = (usedBytes() - before) / JOBS;
  assert.is(ledger.counts.done, JOBS);
  return Math.round(perJob);
}

memory.run();
