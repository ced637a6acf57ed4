// A leader on a folder that exists. Sends the memory of its process once it is open. Argument: the folder.
import { setTimeout } from 'node:timers/promises';
import { type Client, embedded } from '@troupe/jobs';

/** Collections, so that what recovery needed is gone. */
const COLLECTIONS = 4;
const PAGE = 1_000;

process.once('disconnect', () => process.exit(0));

const app = await embedded({ dir: process.argv[2] ?? '' });
const client = app.client();
await client.overview();
for (let i = 0; i < COLLECTIONS; i += 1) {
  globalThis.gc?.();
  await setTimeout(100);
}
const { rss } = process.memoryUsage();
process.send?.({ rss, schedules: await countSchedules(client) });

async function countSchedules({ schedules }: Client): Promise<number> {
  let count = 0;
  for (let after: string | undefined; ; ) {
    const page = await schedules.list({ after, max: PAGE });
    count += page.length;
    if (page.length < PAGE) return count;
    after = page.at(-1)?.name;
  }
}
