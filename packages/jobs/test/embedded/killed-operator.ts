import { type Client, defineJob, type EmbeddedJobs, handle, NonRetryableError } from '@troupe/jobs';
import { embedded } from '../checked-processes.js';
import { aString } from '../plain-schema.js';

export const Echo = defineJob('kill.echo', { input: aString, output: aString });
/** Fails for every input but `good`. */
export const Picky = defineJob('kill.picky', { input: aString, output: aString });

export function openEmpty(dir: string): Promise<EmbeddedJobs> {
  return embedded({ dir, wal: { freeBytesSoft: 0 } });
}

export const picky = handle(Picky, (text) => {
  if (text !== 'good') throw new NonRetryableError('not good');
  return text;
});

/** One act for each kind of record of control, and the state that is there afterwards. */
export interface Act {
  run(client: Client, app: EmbeddedJobs): Promise<void>;
  /** A text that does not depend on times and ids. */
  after(client: Client): Promise<string>;
  readonly expected: string;
}

const schedulesOf = async (client: Client): Promise<string> =>
  (await client.schedules.list()).map(({ name, paused, runs }) => `${name} ${paused} ${runs}`).join();
const actsOf = async (client: Client): Promise<string> =>
  (await client.audit()).map(({ action, target }) => `${action} ${target}`).join();

const actionsOf = async (client: Client): Promise<string> =>
  (await client.audit()).map(({ action }) => action).join();
const jobsOf = async (client: Client): Promise<string> =>
  (await client.search({})).jobs
    .map(({ state, reason, attempt, failures }) => `${state} ${reason} ${attempt} ${failures}`)
    .join();
const queuesOf = async (client: Client): Promise<string> => {
  const queues = (await client.queues()).map(({ mode, limits }) => `${mode} ${JSON.stringify(limits)}`);
  return `${queues.join()} ${await actsOf(client)}`;
};

async function connected(client: Client, app: EmbeddedJobs): Promise<void> {
  app.worker({ name: 'w', handlers: [picky] });
  while ((await client.overview()).workers.length === 0)
    await new Promise((resolve) => setImmediate(resolve));
}

/** The id of a dead letter; no worker is connected any more. */
async function dead(client: Client, app: EmbeddedJobs): Promise<string> {
  const worker = app.worker({ handlers: [picky] });
  const job = await client.submit(Picky, 'bad');
  await job.result().catch(() => undefined);
  await worker.drain();
  return job.id;
}

const add = (client: Client): Promise<unknown> =>
  client.schedules.add('s', Echo, 'x', { cron: '0 0 29 2 *', zone: 'Europe/Berlin' });

export const ACTS: Readonly<Record<string, Act>> = {
  schedule_set: {
    run: async (client) => void (await add(client)),
    after: schedulesOf,
    expected: 's false 0',
  },
  schedule_pause: {
    run: async (client) => {
      await add(client);
      await client.schedules.pause('s');
    },
    after: schedulesOf,
    expected: 's true 0',
  },
  schedule_fire: {
    run: async (client) => {
      await add(client);
      await client.schedules.run('s');
    },
    after: async (client) => `${await schedulesOf(client)} ${(await client.overview()).counts.queued}`,
    expected: 's false 1 1',
  },
  schedule_drop: {
    run: async (client) => {
      await add(client);
      await client.schedules.remove('s');
    },
    after: async (client) => `[${await schedulesOf(client)}] ${await actsOf(client)}`,
    expected: '[] schedule-set s,schedule-drop s',
  },
  redrive_edited: {
    run: async (client, app) => {
      const id = await dead(client, app);
      await client.redriveEdited(Picky, id, 'good');
    },
    after: async (client) => {
      const { jobs } = await client.search({ exec: 'kill.picky' });
      return jobs.map(({ state, payloadBytes }) => `${state} ${payloadBytes}`).join();
    },
    expected: 'queued 6',
  },
  worker_quiet: {
    run: async (client, app) => {
      await connected(client, app);
      await client.workers.quiet('w');
    },
    after: actsOf,
    expected: 'worker-quiet w',
  },
  audit: {
    run: async (client, app) => {
      await connected(client, app);
      await client.workers.stop('w');
    },
    after: actsOf,
    expected: 'worker-stop w',
  },
  queue_limits: {
    run: async (client) =>
      void (await client.queue(Echo.exec).setLimits({ runningMax: 3, keyRate: { jobs: 1, perMs: 9 } })),
    after: queuesOf,
    expected: 'open {"runningMax":3,"keyRate":{"jobs":1,"perMs":9}} queue-limits kill/kill.echo',
  },
  queue_mode: {
    run: async (client) => void (await client.queue(Echo.exec).pause()),
    after: queuesOf,
    expected: 'paused {} queue-paused kill/kill.echo',
  },
  expire: {
    run: async (client) => {
      const job = await client.submit(Echo, 'x', { startWithinMs: 1 });
      await job.result().catch(() => undefined);
    },
    after: jobsOf,
    expected: 'cancelled expired 0 0',
  },
  redrive: {
    run: async (client, app) => {
      const id = await dead(client, app);
      await client.redrive([id]);
    },
    after: async (client) => `${await jobsOf(client)} ${await actionsOf(client)}`,
    expected: 'queued  1 0 redrive',
  },
  purge: {
    run: async (client, app) => {
      const id = await dead(client, app);
      await client.purge([id]);
    },
    after: async (client) => `[${await jobsOf(client)}] ${await actionsOf(client)}`,
    expected: '[] purge',
  },
  cancel: {
    run: async (client) => {
      const job = await client.submit(Echo, 'x');
      await job.cancel('no need');
    },
    after: async (client) => `${await jobsOf(client)} ${await actionsOf(client)}`,
    expected: 'cancelled no need 0 0 cancel',
  },
  // A retry that is no failure.
  snooze: {
    run: async (client, app) => {
      app.worker({ handlers: [handle(Echo, (_input, context) => context.snooze(3_600_000))] });
      const job = await client.submit(Echo, 'x');
      while ((await job.inspect()).dueAt < Date.now()) await new Promise((resolve) => setImmediate(resolve));
    },
    after: async (client) => {
      const [job] = (await client.search({})).jobs;
      const isLater = (job?.dueAt ?? 0) > Date.now() + 1_800_000;
      return `${await jobsOf(client)} ${isLater}`;
    },
    expected: 'queued  1 0 true',
  },
  order: {
    run: async (client) => {
      for (const input of ['x', 'y']) await client.submit(Echo, input, { orderKey: 'a', priority: 9 });
    },
    after: async (client) => {
      const { jobs } = await client.search({ orderKey: 'a' });
      const reasons = await Promise.all(jobs.map(({ job }) => client.explain(client.idOf(job))));
      const [exec] = (await client.stats()).execs;
      const kinds = reasons.map((one) => one.reasons.map(({ kind }) => kind).join('+'));
      return `${kinds.join()} ${JSON.stringify(exec?.queuedByPriority)}`;
    },
    expected: 'no-worker,order-key+no-worker {"9":2}',
  },
  tags: {
    run: async (client) =>
      void (await client.submit(Echo, 'x', { tags: ['eu'], runAt: Date.now() + 3_600_000 })),
    after: async (client) => {
      const { jobs } = await client.search({ tag: 'eu' });
      return jobs.map(({ state, tags }) => `${state} ${tags?.join()}`).join();
    },
    expected: 'queued eu',
  },
};

/** Acts, prints a line when the act is answered, and waits until it is killed. */
async function main(dir: string, name: string): Promise<void> {
  const app = await openEmpty(dir);
  await ACTS[name]?.run(app.client({ name: 'ann' }), app);
  process.stdout.write('answered\n');
}

if (process.argv[2] !== undefined && process.argv[3] !== undefined)
  await main(process.argv[2], process.argv[3]);
