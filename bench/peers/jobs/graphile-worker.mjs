// graphile-worker on PostgreSQL with synchronous commits, in its fastest form: jobs are added in batches, a local
// queue fetches them in batches, and completions are collected into batches. It keeps no results: the worker sends
// them by NOTIFY.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { resultOf } from '../../dist/suites/jobs/payload.js';

const TASK = 'bench';
const BATCH = 500;
/** A NOTIFY has at most 8,000 bytes; an id with its result has about 80. */
const RESULTS_PER_NOTIFY = 90;
const urlOf = (port) => `postgres://postgres@127.0.0.1:${port}/postgres`;
const logger = new Logger(() => () => undefined);

export async function open({ port }) {
  const utils = await makeWorkerUtils({ connectionString: urlOf(port), logger });
  await utils.migrate();
  const listener = new pg.Client(urlOf(port));
  await listener.connect();
  await listener.query('LISTEN bench_done');
  const waiting = new Map();
  listener.on('notification', ({ payload }) => {
    for (const [id, result] of JSON.parse(payload)) {
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
  });
  let batch = [];
  const flush = () => {
    const jobs = batch;
    batch = [];
    for (let at = 0; at < jobs.length; at += 1_000) void utils.addJobs(jobs.slice(at, at + 1_000));
  };
  return {
    run(payload) {
      const id = crypto.randomUUID();
      if (batch.length === 0) setImmediate(flush);
      batch.push({ identifier: TASK, payload: { id, payload } });
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    async close() {
      await listener.end();
      await utils.release();
    },
  };
}

if (process.argv[2] === 'worker') {
  const notifier = new pg.Client(urlOf(process.argv[3]));
  await notifier.connect();
  let results = [];
  const flush = () => {
    const ended = results;
    results = [];
    for (let at = 0; at < ended.length; at += RESULTS_PER_NOTIFY)
      void notifier.query('SELECT pg_notify($1, $2)', [
        'bench_done',
        JSON.stringify(ended.slice(at, at + RESULTS_PER_NOTIFY)),
      ]);
  };
  await run({
    preset: {
      worker: {
        connectionString: urlOf(process.argv[3]),
        concurrentJobs: 24,
        pollInterval: 2_000,
        localQueue: { size: BATCH },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger,
      },
    },
    noHandleSignals: true,
    taskList: {
      [TASK]: ({ id, payload }) => {
        if (results.length === 0) setImmediate(flush);
        results.push([id, resultOf(payload)]);
      },
    },
  });
  process.send?.('ready');
}
