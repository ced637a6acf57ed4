import { defineJob, handle, handleMany, JobSnoozedError } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embedded } from '../../checked-processes.js';
import { aNumber } from '../../plain-schema.js';
import { tempFolder } from '../../temp-folder.js';

const batches = suite('handler batches');
const Count = defineJob('batch.count', { input: aNumber, output: aNumber, retry: { attempts: 1 } });

batches('jobs that arrive while a batch runs are the next batch, each with its own outcome', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const sizes: number[] = [];
  const many = handleMany(
    Count,
    async (items) => {
      sizes.push(items.length);
      await new Promise((resolve) => setImmediate(resolve));
      return items.map(({ input }) => (input === 3 ? new Error('three') : { output: 10 * input }));
    },
    { max: 4 },
  );
  app.worker({ handlers: [many], slots: 16 });
  const client = app.client();
  const handles = await client.submitAll(Count, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const ends = await Promise.allSettled(handles.map((job) => job.result()));
  assert.equal(
    ends.map((end) => (end.status === 'fulfilled' ? end.value : (end.reason as { code: string }).code)),
    [10, 20, 'ERR_JOB_FAILED', 40, 50, 60, 70, 80, 90],
  );
  assert.ok(sizes.length < 9 && Math.max(...sizes) <= 4, sizes.join());
  assert.is(
    sizes.reduce((sum, size) => sum + size, 0),
    9,
  );
});

batches('an error of the handler, and a wrong number of outcomes, end every job of the batch', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const wrong = handleMany(
    Count,
    (items) => (items[0]?.input === 1 ? [] : Promise.reject(new Error('all'))),
    {
      max: 9,
    },
  );
  app.worker({ handlers: [wrong] });
  const client = app.client();
  const messages: string[] = [];
  for (const input of [1, 2])
    await client.run(Count, input).catch((error: Error) => messages.push(error.message));
  assert.match(messages[0] ?? '', 'gave 0 outcomes for 1 jobs');
  assert.match(messages[1] ?? '', 'all');
});

batches('an outcome that is neither an output nor an error fails its own job alone', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  // As a handler without types may return them.
  const untyped = (input: number): { readonly output: number } =>
    (input === 1 ? 10 : input === 2 ? undefined : { output: 30 }) as { readonly output: number };
  const many = handleMany(Count, (items) => items.map(({ input }) => untyped(input)), { max: 9 });
  app.worker({ handlers: [many] });
  const handles = await app.client().submitAll(Count, [1, 2, 3]);
  const ends = await Promise.allSettled(handles.map((job) => job.result()));
  const texts = ends.map((end) => String(end.status === 'fulfilled' ? end.value : end.reason));
  assert.match(texts[0] ?? '', 'is neither { output } nor an Error');
  assert.match(texts[1] ?? '', 'is neither { output } nor an Error');
  assert.is(texts[2], '30');
});

batches('a job of a batch is snoozed by its own outcome, and the others end', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const seen: string[] = [];
  const many = handleMany(
    Count,
    (items) =>
      items.map(({ input, context }) => {
        seen.push(`${input}.${context.attempt}`);
        return input === 1 && context.attempt === 1 ? new JobSnoozedError(5) : { output: input };
      }),
    { max: 9 },
  );
  app.worker({ handlers: [many] });
  const handles = await app.client().submitAll(Count, [1, 2]);
  assert.equal(await Promise.all(handles.map((job) => job.result())), [1, 2]);
  assert.equal(seen.sort(), ['1.1', '1.2', '2.1']);
});

batches('a handler that snoozes is called again later, without a failure', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  let calls = 0;
  const snoozing = handle(Count, (input, context) => {
    calls += 1;
    return context.attempt < 3 ? context.snooze(5) : input;
  });
  app.worker({ handlers: [snoozing] });
  assert.is(await app.client().run(Count, 7), 7);
  assert.is(calls, 3);
  assert.is(new JobSnoozedError(5).delayMs, 5);
});

batches('a delay that is no number is an error of the handler', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  app.worker({ handlers: [handle(Count, (_input, { snooze }) => snooze(-1))] });
  const message = await app
    .client()
    .run(Count, 1)
    .catch((error: Error) => error.message);
  assert.match(String(message), 'snooze');
});

batches.run();
