// timeout: 120s
// Every chunk of the streaming suite has its own content, and a lost, doubled or changed one refuses the row.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChunkCheck, ChunkTexts } from '#src/suites/streaming/chunk-text.js';
import { suite as streaming } from '#src/suites/streaming.suite.js';

const chunks = suite('streaming-chunks');
const COUNT = 20_000;
const BYTES = 100;

chunks('chunks have their size as JSON and are unique, without their numbers, too', () => {
  const texts = new ChunkTexts(BYTES);
  const all = Array.from({ length: COUNT }, (_, i) => texts.textOf(i));
  assert.ok(all.every((text) => Buffer.byteLength(JSON.stringify(text)) === BYTES));
  assert.is(new Set(all).size, COUNT);
  assert.is(new Set(all.map((text) => text.slice(10))).size, COUNT);
  assert.is(new ChunkTexts(BYTES).textOf(7), all[7]);
});

chunks('a reader counts only chunks in their order and with their content', () => {
  const texts = new ChunkTexts(BYTES);
  const read = (numbers: readonly number[]): number => {
    const check = new ChunkCheck({ first: 5, count: 3, bytes: BYTES });
    for (const number of numbers) check.take(texts.textOf(number));
    return check.correct;
  };
  assert.is(read([5, 6, 7]), 3);
  for (const wrong of [
    [5, 7],
    [5, 5, 6],
    [6, 5, 7],
    [4, 5, 6],
  ])
    assert.ok(read(wrong) < 3, `${wrong}`);
  const check = new ChunkCheck({ first: 5, count: 1, bytes: BYTES });
  check.take(texts.textOf(5).replace(/.$/, '!'));
  assert.is(check.correct, 0);
});

for (const benchmark of streaming.cases.filter(({ benchmark }) => benchmark !== 'thousand-streams')) {
  chunks(`${benchmark.benchmark} completes all of its work`, async () => {
    const trial = await benchmark.prepare({ system: 'troupe', scale: 0.01, round: 0, adapters: {} });
    const { attempted, completed } = await trial.run();
    await trial.close?.();
    assert.ok(attempted > 0 && completed === attempted, `${completed} of ${attempted}`);
  });
}

chunks.run();
