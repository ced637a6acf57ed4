import { type Client, defineJob, type FeedReceipt, handle, type JobHandle } from '@troupe/jobs';
import { aNumber, aString } from '../plain-schema.js';

declare const client: Client;
const adder = defineJob('math.adder', { input: aString, output: aString, chunk: aString, feed: aNumber });
const unfed = defineJob('text.unfed', { input: aString, output: aString, chunk: aString });

export const handlers = [
  handle(adder, async function* (_input, { feed }) {
    for await (const item of feed) yield item.toFixed(1);
    const isAbandoned: boolean = feed.isAbandoned;
    yield String(isAbandoned);
  }),
  handle(adder, {
    load: () => ({ factor: 2 }),
    async *run(_input, { feed, loaded }) {
      for await (const item of feed) yield String(item * loaded.factor);
    },
  }),
  handle(adder, async function* (_input, { feed }) {
    // @ts-expect-error an item of this feed is a number
    for await (const item of feed) yield item.toUpperCase();
  }),
  handle(unfed, async function* (_input, { feed }) {
    for await (const item of feed) yield item satisfies never;
  }),
];

export const receipts = async (): Promise<FeedReceipt[]> => {
  const job: JobHandle<typeof adder> = await client.submit(adder, 'a', { streaming: true });
  await job.ready;
  const fed: number = job.fed;
  return [await job.feed(fed), await job.feed(1, { final: true, withinMs: 5 }), await job.endFeed()];
};

export const wrong = async (): Promise<void> => {
  const job = await client.submit(adder, 'a', { streaming: true });
  // @ts-expect-error an item of this feed is a number
  await job.feed('one');
  // @ts-expect-error an option of another call
  await job.endFeed({ final: true });
  // @ts-expect-error a job without a feed
  await (await client.submit(unfed, 'a', { streaming: true })).feed('one');
};
