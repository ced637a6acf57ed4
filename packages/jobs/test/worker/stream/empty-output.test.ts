import { defineJob } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emptyOutput } from '#src/worker/stream/empty-output.js';
import { aNumber, anything, aString, schema } from '../../plain-schema.js';

const empty = suite('output of a stream without a chunk');

const bytes = schema<Uint8Array>('bytes', (value) => value instanceof Uint8Array);
const list = schema<unknown[]>('list', Array.isArray);
const word = schema<string>('word', (value) => typeof value === 'string' && value !== '');

empty('it is the empty form of the output that the chunks would have been joined to', async () => {
  const input = aNumber;
  const texts = defineJob('a.texts', { input, output: aString, chunk: aString });
  const words = defineJob('a.words', { input, output: aString, chunk: word });
  const raw = defineJob('a.raw', { input, output: bytes, chunk: bytes });
  const numbers = defineJob('a.numbers', { input, output: list, chunk: aNumber });
  const any = defineJob('a.any', { input, output: anything, chunk: aNumber });
  const sum = defineJob('a.sum', { input, output: aNumber, chunk: aNumber, collect: (a = 0, b) => a + b });
  const outputs = await Promise.all([texts, words, raw, numbers, any, sum].map((job) => emptyOutput(job)));
  assert.equal(outputs, ['', '', new Uint8Array(0), [], [], undefined]);
});

empty.run();
