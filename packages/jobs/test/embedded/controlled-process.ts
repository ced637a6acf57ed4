import { defineJob, type EmbeddedJobs, handle } from '@troupe/jobs';
import { embedded } from '../checked-processes.js';
import { aString } from '../plain-schema.js';

/** Shared by the killed process and the checking one. */
export const lined = defineJob('kill.lined', {
  input: aString,
  output: aString,
  orderKey: (text) => text.split(' ')[0] ?? '',
  retry: { crashes: 1_000, baseMs: 1, capMs: 2 },
});
export const limited = defineJob('kill.limited', { input: aString, output: aString });
export const late = defineJob('kill.late', { input: aString, output: aString, startWithinMs: 30 });

export async function openApp(dir: string, began: (text: string) => void): Promise<EmbeddedJobs> {
  const app = await embedded({ dir, limits: { resultsMax: 1_000_000 }, wal: { freeBytesSoft: 0 } });
  app.worker({
    slots: 32,
    handlers: [
      handle(lined, async (text, { attempt }) => {
        began(text);
        await new Promise((resolve) => setTimeout(resolve, 2));
        if (attempt % 3 === 1) throw new Error('once more');
        return text;
      }),
    ],
  });
  return app;
}

/** Submits lines of jobs, and changes limits and modes, until it is killed. Prints what is acknowledged. */
async function main(dir: string, round: string): Promise<void> {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const app = await openApp(dir, (text) => print(`began ${text}`));
  const client = app.client();
  await client.overview();
  print('ready');
  const line = async (key: number): Promise<void> => {
    for (let n = 1; ; n += 1) {
      const { id } = await client.submit(lined, `${key} ${round}.${n}`);
      print(`accepted ${id} ${key} ${round}.${n}`);
    }
  };
  const operator = async (): Promise<void> => {
    const queue = client.queue(limited.exec);
    for (let n = 1; ; n += 1) {
      const { limits } = await queue.setLimits({ runningMax: Number(round) * 1_000 + n });
      print(`limit ${limits.runningMax}`);
      const { mode } = await (n % 2 === 0 ? queue.pause() : queue.drain());
      print(`mode ${mode}`);
    }
  };
  const expiring = async (): Promise<void> => {
    for (let n = 1; ; n += 1) {
      const job = await client.submit(late, `${round}.${n}`);
      await job.result().catch((error: { code: string }) => print(`expired ${job.id} ${error.code}`));
    }
  };
  await Promise.all([line(1), line(2), operator(), expiring()]);
}

if (process.argv[2] !== undefined && process.argv[3] !== undefined)
  await main(process.argv[2], process.argv[3]);
