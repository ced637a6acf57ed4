import { type Client, defineJob, handle, type JobItem } from '@troupe/jobs';
import { aNumber, anything, aString, schema } from '../plain-schema.js';

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

// Where the joined chunks are the output, `collect` may be left out; elsewhere the type asks for it.
const numbers = schema<number[]>('list', Array.isArray);
export const joined = [
  defineJob('list.numbers', { input: aString, output: numbers, chunk: aNumber }),
  defineJob('any.output', { input: aString, output: anything, chunk: aNumber }),
  defineJob('no.collection', { input: aString, output: aNumber, chunk: aString, collect: false }),
  // @ts-expect-error texts joined are no number
  defineJob('text.count', { input: aString, output: aNumber, chunk: aString }),
  // @ts-expect-error a list of numbers is no text
  defineJob('number.text', { input: aString, output: aString, chunk: aNumber }),
];
export const settings = [
  defineJob('text.kept', { input: aString, output: aString, chunk: aString, stream: { whenUnread: 'wait' } }),
  // @ts-expect-error no such policy
  defineJob('text.lost', { input: aString, output: aString, chunk: aString, stream: { whenUnread: 'lose' } }),
];
void client.submit(words, 'a', { streaming: 'internal', stream: { durable: true, bufferBytes: 1_000_000 } });
export const streams = async (): Promise<unknown[]> => {
  const job = await client.submit(words, 'a', { streaming: true });
  const web: AsyncIterable<string> = job.web({ onGap: 'follow' });
  return [web, job.readable({ from: { attempt: 1, offset: 2 } })];
};
