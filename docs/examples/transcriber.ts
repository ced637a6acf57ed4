// A transcriber that is fed with pieces of a recording while it runs: its clients hear the text as it is recognised.
//   node docs/examples/.test/transcriber.js
// The "recording" is Morse code: dots and dashes as they would come from a key, cut into pieces anywhere.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineJob, embedded, handle } from '@troupe/jobs';

const text = {
  '~standard': {
    version: 1 as const,
    vendor: 'example',
    validate: (value: unknown) =>
      typeof value === 'string' ? { value } : { issues: [{ message: 'not a text' }] },
    types: undefined as { input: string; output: string } | undefined,
  },
};

const MORSE = new Map(
  Object.entries({ e: '.', t: '-', h: '....', l: '.-..', o: '---', w: '.--', r: '.-.', d: '-..' }).map(
    ([letter, code]) => [code, letter],
  ),
);

export const transcribe = defineJob('speech.transcribe', {
  input: text,
  output: text,
  chunk: text,
  feed: text,
});

const transcriber = handle(transcribe, async function* (_language, { feed }) {
  let heard = '';
  for await (const piece of feed) {
    heard += piece;
    // A letter ends with a space; the rest may go on in the next piece.
    const letters = heard.split(' ');
    heard = letters.pop() ?? '';
    for (const code of letters) yield code === '' ? ' ' : (MORSE.get(code) ?? '?');
  }
});

const dir = await mkdtemp(join(tmpdir(), 'troupe-transcriber-'));
const app = await embedded({ dir });
app.worker({ handlers: [transcriber] });
const client = app.client();

const job = await client.submit(transcribe, 'en', { streaming: true });
const listening = (async () => {
  for await (const letter of job) process.stdout.write(letter);
  process.stdout.write('\n');
})();

await job.ready;
for (const piece of ['.... . ', '.-', '.. .-.. -', '--  .-', '- --- .-. ', '.-.. -.', '. ']) {
  await job.feed(piece);
  // As it comes from the key.
  await new Promise((resolve) => setTimeout(resolve, 50));
}
await job.endFeed();
await listening;
assert.equal(await job.result(), 'hello world');
assert.equal(job.fed, 7);

await app.close();
await rm(dir, { recursive: true });
