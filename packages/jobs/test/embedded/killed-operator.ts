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

/** One act for each kind of record of operators and schedules, and what is there afterwards. */
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
      const worker = app.worker({ handlers: [picky] });
      const job = await client.submit(Picky, 'bad');
      await job.result().catch(() => undefined);
      await worker.drain();
      await client.redriveEdited(Picky, job.id, 'good');
    },
    after: async (client) => {
      const { jobs } = await client.search({ exec: 'kill.picky' });
      return jobs.map(({ state, payloadBytes }) => `${state} ${payloadBytes}`).join();
    },
    expected: 'queued 6',
  },
  worker_quiet: {
    run: async (client, app) => {
      app.worker({ name: 'w', handlers: [picky] });
      while ((await client.overview()).workers.length === 0)
        await new Promise((resolve) => setImmediate(resolve));
      await client.workers.quiet('w');
    },
    after: actsOf,
    expected: 'worker-quiet w',
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
