import { type Client, defineJob, handle, type JobItem } from '@troupe/jobs';
import { aNumber, aString } from '../plain-schema.js';

declare const client: Client;
const words = defineJob('text.words', { input: aString, output: aString, chunk: aString });
const sum = defineJob('text.sum', {
  input: aString,
  output: aNumber,
  chunk: aString,
  collect: (total = 0, chunk) => total + chunk.length,
});

export const handlers = [
  handle(words, async function* (text) {
    yield text;
  }),
  handle(sum, async function* (text) {
    yield text;
    return 1;
  }),
  handle(words, async (text) => text),
  // @ts-expect-error a chunk of this job is a text
  handle(words, async function* () {
    yield 1;
  }),
];
export const chunks = async (): Promise<string[]> => {
  const taken: string[] = [];
  for await (const chunk of await client.stream(words, 'a b')) taken.push(chunk);
  return taken;
};
export const items = async (): Promise<JobItem<typeof sum> | undefined> => {
  for await (const item of (await client.submit(sum, 'a', { streaming: true })).items()) return item;
  return undefined;
};
// @ts-expect-error a mode of streaming
void client.submit(words, 'a', { streaming: 'some' });
// @ts-expect-error a batch does not stream
void client.submitAll(words, ['a'], { streaming: true });
