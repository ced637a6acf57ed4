import { defineJob, type EmbeddedJobs, embedded, handle, type JobHandle } from '@troupe/jobs';
import { aString } from '../plain-schema.js';

/** Shared by the killed process and the checking one. Kills must not lead to quarantine. */
export const slow = defineJob('kill.slow', { input: aString, output: aString, retry: { crashes: 1_000 } });
export const quick = defineJob('kill.quick', { input: aString, output: aString, retry: { crashes: 1_000 } });

export async function openApp(dir: string): Promise<EmbeddedJobs> {
  const app = await embedded({ dir, limits: { resultsMax: 1_000_000 }, wal: { freeBytesSoft: 0 } });
  app.worker({
    slots: 32,
    handlers: [
      handle(quick, (text) => `did ${text}`),
      handle(slow, async (text) => {
        await new Promise((resolve) => setTimeout(resolve, 15));
        return `did ${text}`;
      }),
    ],
  });
  return app;
}

/** Submits without end and prints receipts and results, one line each, until it is killed. */
async function main(dir: string, round: string): Promise<void> {
  const app = await openApp(dir);
  const client = app.client();
  process.stdout.write('ready\n');
  let next = 0;
  const lane = async (): Promise<void> => {
    for (;;) {
      next += 1;
      const text = `${round}.${next}`;
      const handled: JobHandle<typeof quick> = await client.submit(next % 3 === 0 ? slow : quick, text);
      process.stdout.write(`accepted ${handled.id} ${text}\n`);
      process.stdout.write(`result ${handled.id} ${await handled.result()}\n`);
    }
  };
  await Promise.all(Array.from({ length: 48 }, lane));
}

if (process.argv[2] !== undefined && process.argv[3] !== undefined)
  await main(process.argv[2], process.argv[3]);
