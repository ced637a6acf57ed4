import { defineJob, handle, RequestRefusedError } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embedded } from '../checked-processes.js';
import { aNumber } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const schedules = suite('schedules of a client');
const Count = defineJob('count', { input: aNumber, output: aNumber });

schedules('a schedule submits jobs that run, and is kept with its folder', async () => {
  await using folder = await tempFolder();
  const results: number[] = [];
  {
    await using app = await embedded({ dir: folder.path });
    const client = app.client({ name: 'ann' });
    const ran = new Promise<void>((resolve) => {
      app.worker({
        handlers: [
          handle(Count, (n) => {
            results.push(n);
            if (results.length === 2) resolve();
            return n + 1;
          }),
        ],
      });
    });
    const view = await client.schedules.add('often', Count, 7, { everyMs: 100 });
    assert.equal([view.exec, view.runs, view.paused], ['count', 0, false]);
    await ran;
    await client.schedules.pause('often');
  }
  assert.equal(results, [7, 7]);
  await using app = await embedded({ dir: folder.path });
  const client = app.client({ name: 'ann' });
  const [kept] = await client.schedules.list();
  assert.ok(kept?.paused === true && kept.runs >= 2);
  const { lastJob } = await client.schedules.run('often');
  app.worker({ handlers: [handle(Count, (n) => n + 1)] });
  assert.is(await client.open(Count, client.idOf(lastJob)).result(), 8);
  await client.schedules.remove('often');
  assert.equal(await client.schedules.list(), []);
});

schedules('a bad rule is a typed refusal, and an input is checked by its schema', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const { schedules: all } = app.client({ name: 'ann' });
  const codeOf = async (call: () => Promise<unknown>): Promise<unknown> => {
    try {
      await call();
    } catch (error) {
      return (error as { code: unknown }).code;
    }
    return 'none';
  };
  assert.is(await codeOf(() => all.add('x', Count, 1, { cron: '61 * * * *' })), 'ERR_SCHEDULE_INVALID');
  assert.is(
    await codeOf(() => all.add('x', Count, 1, { cron: '@daily', zone: 'Mars/Base' })),
    'ERR_SCHEDULE_INVALID',
  );
  assert.is(await codeOf(() => all.add('x', Count, 'a' as never, { cron: '@daily' })), 'ERR_JOB_SCHEMA');
  assert.is(
    await codeOf(() => all.add('x', Count, 1, { cron: '@daily', catchUp: 'all' as never })),
    'ERR_JOB_DEFINITION',
  );
  assert.is(await codeOf(() => all.run('x')), 'ERR_SCHEDULE_UNKNOWN');
  assert.is(await codeOf(() => all.remove('x')), 'ERR_SCHEDULE_UNKNOWN');
  await all.remove('x').catch((error: unknown) => {
    assert.ok(error instanceof RequestRefusedError && error.call === 'schedule-drop');
  });
  assert.equal(await all.list(), []);
});

schedules.run();
