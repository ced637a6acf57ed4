// pg-boss on PostgreSQL with synchronous commits. It has no push: jobs are inserted and fetched in batches.
// The worker sends results by NOTIFY, because completing a batch stores a single output for the whole batch.
import pg from 'pg';
import PgBoss from 'pg-boss';
import { keyOf } from '../../dist/suites/jobs/job-order.js';
import { resultOf } from '../../dist/suites/jobs/payload.js';

const QUEUE = 'bench';
const BATCH = 500;
/** A NOTIFY has at most 8,000 bytes; an id with its result has about 80. */
const RESULTS_PER_NOTIFY = 90;
const urlOf = (port) => `postgres://postgres@127.0.0.1:${port}/postgres`;

export async function open({ port, order }) {
  const boss = new PgBoss(urlOf(port));
  boss.on('error', () => undefined);
  await boss.start();
  // At most one job of each singleton key is active.
  await boss.createQueue(QUEUE, order === 'keys' ? { policy: 'singleton' } : {});
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
    for (let at = 0; at < jobs.length; at += 1_000) void boss.insert(jobs.slice(at, at + 1_000));
  };
  return {
    run(payload) {
      const id = crypto.randomUUID();
      if (batch.length === 0) setImmediate(flush);
      const key = order === 'keys' ? { singletonKey: keyOf(payload) } : {};
      batch.push({ id, name: QUEUE, data: payload, ...key });
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    async close() {
      await listener.end();
      await boss.stop({ graceful: false });
    },
  };
}

if (process.argv[2] === 'worker') {
  const boss = new PgBoss(urlOf(process.argv[3]));
  boss.on('error', () => undefined);
  await boss.start();
  const notifier = new pg.Client(urlOf(process.argv[3]));
  await notifier.connect();
  process.send?.('ready');
  for (;;) {
    const jobs = await boss.fetch(QUEUE, { batchSize: BATCH }).catch(() => []);
    if (jobs.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      continue;
    }
    const results = jobs.map(({ id, data }) => [id, resultOf(data)]);
    await boss.complete(
      QUEUE,
      jobs.map(({ id }) => id),
    );
    for (let at = 0; at < results.length; at += RESULTS_PER_NOTIFY) {
      const part = JSON.stringify(results.slice(at, at + RESULTS_PER_NOTIFY));
      await notifier.query('SELECT pg_notify($1, $2)', ['bench_done', part]);
    }
  }
}
