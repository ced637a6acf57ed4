import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineJob, handle, type JobsError } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embedded } from '../../checked-processes.js';
import { anything } from '../../plain-schema.js';
import { tempFolder } from '../../temp-folder.js';
import { ClientRig } from '../client-rig.js';

const waitLimit = suite('wait limit');

const echo = defineJob('text.echo', { input: anything, output: anything });

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: JobsError) => String(error.code ?? error.message),
  );
}

waitLimit('without a leader a call ends at its time limit, or at its signal with the reason', async () => {
  await using folder = await tempFolder();
  const file = join(folder.path, 'input.json');
  await writeFile(file, '1');
  const { client } = new ClientRig();
  assert.is(await codeOf(client.submit(echo, 1, { withinMs: 5 })), 'ERR_SUBMIT_WAIT');
  assert.is(await codeOf(client.run(echo, 1, { withinMs: 5 })), 'ERR_SUBMIT_WAIT');
  assert.is(await codeOf(client.submitAll(echo, [1, 2], { withinMs: 5 })), 'ERR_SUBMIT_WAIT');
  assert.is(await codeOf(client.submitFile(echo, file, { withinMs: 5 })), 'ERR_SUBMIT_WAIT');
  const controller = new AbortController();
  const { signal } = controller;
  const waits = [client.submit(echo, 1, { signal }), client.run(echo, 1, { signal })].map(codeOf);
  controller.abort(new Error('enough'));
  assert.equal(await Promise.all(waits), ['enough', 'enough']);
  assert.is(await codeOf(client.submit(echo, 1, { signal })), 'enough');
  assert.is(await codeOf(client.submitAll(echo, [1], { signal })), 'enough');
});

waitLimit('a submit abandoned before it was sent is never sent; the others keep their order', async () => {
  const rig = new ClientRig();
  const abandoned = codeOf(rig.client.submit(echo, 'abandoned', { withinMs: 1 }));
  const stays = rig.client.submit(echo, 'stays');
  assert.is(await abandoned, 'ERR_SUBMIT_WAIT');
  rig.welcome();
  assert.equal(
    (await rig.submitted()).map(({ payload }) => payload),
    ['"stays"'],
  );
  rig.answer(2);
  assert.is((await stays).id, 'tag-2');
});

waitLimit('a submit abandoned while the window is full leaves its place to the next', async () => {
  const rig = new ClientRig();
  rig.welcome(1);
  const first = rig.client.submit(echo, 'first');
  const abandoned = codeOf(rig.client.submit(echo, 'abandoned', { withinMs: 1 }));
  const next = rig.client.submit(echo, 'next');
  assert.is(await abandoned, 'ERR_SUBMIT_WAIT');
  assert.equal((await rig.submitted()).length, 1);
  rig.answer(1);
  await first;
  assert.equal(
    (await rig.submitted()).map(({ payload }) => payload),
    ['"next"'],
  );
  rig.answer(2);
  await next;
});

waitLimit('a submit abandoned after it was sent makes room, and its late receipt is ignored', async () => {
  const rig = new ClientRig();
  rig.welcome(1);
  assert.is(await codeOf(rig.client.submit(echo, 'sent', { withinMs: 5 })), 'ERR_SUBMIT_WAIT');
  const next = rig.client.submit(echo, 'next');
  assert.equal(
    (await rig.submitted()).map(({ seq }) => seq),
    [1, 2],
  );
  rig.answer(1);
  rig.answer(2);
  assert.is((await next).id, 'tag-2');
});

waitLimit('an abandoned wait for an output leaves no waiter behind, and the job goes on', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const job = await client.submit(echo, 1);
  const { calls } = (client as unknown as { table: { calls: { size: number } } }).table;
  for (let i = 0; i < 20; i += 1) assert.is(await codeOf(job.result({ withinMs: 1 })), 'ERR_JOB_WAIT');
  assert.is(await codeOf(job.result({ signal: AbortSignal.abort(new Error('enough')) })), 'enough');
  assert.is(await codeOf(client.run(echo, 2, { withinMs: 200 })), 'ERR_JOB_WAIT');
  assert.is(calls.size, 0);
  const unlimited = job.result();
  assert.is(await codeOf(job.result({ withinMs: 1 })), 'ERR_JOB_WAIT');
  app.worker({ handlers: [handle(echo, (value) => value)] });
  assert.is(await unlimited, 1);
  assert.is(await job.result({ withinMs: 60_000, signal: new AbortController().signal }), 1);
});

waitLimit('a time limit beyond a timer, or a signal that is none, is ERR_JOB_DEFINITION', async () => {
  const { client } = new ClientRig();
  const loose = (options: object): Promise<string> => codeOf(client.submit(echo, 1, options as never));
  assert.is(await loose({ withinMs: -1 }), 'ERR_JOB_DEFINITION');
  assert.is(await loose({ withinMs: 2 ** 31 }), 'ERR_JOB_DEFINITION');
  assert.is(await loose({ signal: 5 }), 'ERR_JOB_DEFINITION');
});

waitLimit.run();
