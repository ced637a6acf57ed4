import { defineJob, handle } from '@troupe/jobs';
import { TestJobError, testJobs } from '@troupe/jobs/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aNumber, aString } from '../plain-schema.js';

const world = suite('test jobs');

const retry = { attempts: 3, baseMs: 60_000, capMs: 600_000, jitter: 0 };
const double = defineJob('math.double', { input: aNumber, output: aNumber, retry });
const send = defineJob('mail.send', { input: aString, output: aString, retry });

world('calls of the client go on by themselves, and time stands still', async () => {
  await using jobs = await testJobs({ handlers: [handle(double, async (n) => n * 2)] });
  assert.is(await jobs.client.run(double, 21), 42);
  assert.is(jobs.host.now(), 0);
});

world('`advance` runs a delayed job when it is due, and not before', async () => {
  const sent: string[] = [];
  const handlers = [
    handle(send, (to) => {
      sent.push(to);
      return to;
    }),
  ];
  await using jobs = await testJobs({ handlers });
  await jobs.client.submit(send, 'ann', { runAfterMs: 60_000 });
  await jobs.advance(59_000);
  assert.equal(sent, []);
  await jobs.advance(1_000);
  assert.equal(sent, ['ann']);
  assert.is(jobs.host.now(), 60_000);
});

world('`run` moves time over the delays of retries', async () => {
  const handlers = [
    handle(send, (to, { attempt }) => {
      if (attempt < 3) throw new Error('busy');
      return to;
    }),
  ];
  await using jobs = await testJobs({ handlers });
  assert.is(await jobs.run(send, 'ann'), 'ann');
  assert.ok(jobs.host.now() >= 120_000);
});

world('the error of a job that failed has its history', async () => {
  const handlers = [
    handle(send, (_to, { attempt }) => {
      throw new RangeError(`no ${attempt}`);
    }),
  ];
  await using jobs = await testJobs({ handlers });
  let error: unknown;
  try {
    await jobs.run(send, 'ann');
  } catch (caught) {
    error = caught;
  }
  assert.instance(error, TestJobError);
  const failed = error as TestJobError;
  assert.is(failed.code, 'ERR_TEST_JOB');
  assert.is((failed.cause as { code?: unknown }).code, 'ERR_JOB_FAILED');
  assert.equal(
    failed.history.map((line) => line.replace(/^ *\d+ ms {2}/, '').replace(/due in \d+/, 'due in N')),
    [
      'mail.send accepted',
      'attempt 1 begun',
      'attempt 1 failed: RangeError: no 1',
      'queued again (retry), due in N ms',
      'attempt 2 begun',
      'attempt 2 failed: RangeError: no 2',
      'queued again (retry), due in N ms',
      'attempt 3 begun',
      'attempt 3 failed: RangeError: no 3',
      'dead letter: failed',
    ],
  );
  assert.match(failed.message, /attempt 3 failed: RangeError: no 3\n.*dead letter: failed/);
  assert.equal(jobs.history(failed.jobId), failed.history);
});

world('a job that does not end is given up after an hour of virtual time', async () => {
  await using jobs = await testJobs({ handlers: [handle(double, (n) => n)] });
  const waiting = await jobs.client.submit(send, 'no handler');
  try {
    await jobs.result(waiting);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, TestJobError);
    assert.is(((error as TestJobError).cause as { code?: unknown }).code, 'ERR_JOB_WAIT');
  }
  assert.is(jobs.host.now(), 3_600_000);
});

world('a later world with the same log has the jobs of the earlier one', async () => {
  const log = { entries: [] as Uint8Array[] };
  let id = '';
  {
    await using first = await testJobs({ handlers: [], log });
    id = (await first.client.submit(send, 'ann')).id;
  }
  await using second = await testJobs({ handlers: [handle(send, (to) => `to ${to}`)], log });
  assert.is(await second.result(second.client.open(send, id)), 'to ann');
});

world.run();
