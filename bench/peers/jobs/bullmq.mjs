// BullMQ on Redis with `appendfsync always`. `node bullmq.mjs worker <port>` is the worker process.
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { priorityOf } from '../../dist/suites/jobs/job-order.js';
import { resultOf } from '../../dist/suites/jobs/payload.js';

const QUEUE = 'bench';
const connectionOf = (port) =>
  new Redis({ host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null });

/** Its highest priority is 1; 0 is none, and goes before all. */
const optionsOf = (payload, order) =>
  order === 'priorities'
    ? { removeOnComplete: true, priority: 10 - priorityOf(payload) }
    : { removeOnComplete: true };

export async function open({ port, order }) {
  const queue = new Queue(QUEUE, { connection: connectionOf(port) });
  const events = new QueueEvents(QUEUE, { connection: connectionOf(port) });
  const waiting = new Map();
  const early = new Map();
  events.on('completed', ({ jobId, returnvalue }) => {
    const resolve = waiting.get(jobId);
    if (resolve === undefined) early.set(jobId, returnvalue);
    else {
      waiting.delete(jobId);
      resolve(returnvalue);
    }
  });
  await events.waitUntilReady();
  await queue.waitUntilReady();
  return {
    async run(payload) {
      const { id } = await queue.add('job', payload, optionsOf(payload, order));
      if (early.has(id)) {
        const result = early.get(id);
        early.delete(id);
        return result;
      }
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    async close() {
      await events.close();
      await queue.close();
    },
  };
}

if (process.argv[2] === 'worker') {
  const worker = new Worker(QUEUE, async ({ data }) => resultOf(data), {
    connection: connectionOf(process.argv[3]),
    concurrency: 100,
  });
  await worker.waitUntilReady();
  process.send?.('ready');
}
