import { defineJob, handle, type JobHandle } from '@troupe/jobs';
import { testJobs } from '@troupe/jobs/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AttemptProgress } from '#src/protocol/worker/progress-messages.js';
import { Attempt } from '#src/worker/attempt/attempt.js';
import { ProgressOutbox } from '#src/worker/progress/progress-outbox.js';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { ManualTime } from '../manual-time.js';
import { aNumber, aString } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const progress = suite('progress');

const retry = { attempts: 2, baseMs: 1, capMs: 5, jitter: 0 };
const pages = defineJob('doc.pages', { input: aNumber, output: aString, retry });
const words = defineJob('text.words', { input: aString, output: aString, chunk: aString, retry });

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

progress('progress and log lines are readable while the job runs, and after it', async () => {
  const mayEnd = gate();
  const handler = handle(pages, async (count, { progress: report, log }) => {
    for (let page = 1; page <= count; page += 1) {
      report(page / 10, `page ${page}`);
      log(`read page ${page}`);
    }
    await mayEnd.opened;
    report(1);
    log('bound');
    return 'a book';
  });
  await using jobs = await testJobs({ handlers: [handler] });
  const job = await jobs.client.submit(pages, 4);
  assert.is(await job.progress(), undefined);
  await jobs.advance(300);
  const now = await job.progress();
  assert.equal([now?.attempt, now?.share, now?.note, now?.dropped], [1, 0.4, 'page 4', 0]);
  const texts = [1, 2, 3, 4].map((page) => `read page ${page}`);
  assert.equal(
    now?.lines.map(({ text }) => text),
    texts,
  );
  assert.equal((await job.inspect()).progress, now);
  // A list is for many jobs.
  assert.is((await jobs.client.list('running'))[0]?.progress, undefined);
  mayEnd.open();
  assert.is(await jobs.result(job), 'a book');
  const last = await job.progress();
  assert.equal([last?.share, last?.note, last?.lines.at(-1)?.text], [1, 'page 4', 'bound']);
});

progress('lines of a failed attempt stay until the next one says something', async () => {
  const mayFail = gate();
  const mayLog = gate();
  const handler = handle(pages, async (_, { attempt, log }) => {
    if (attempt === 2) await mayLog.opened;
    log(`attempt ${attempt}`);
    await mayFail.opened;
    throw new Error('torn');
  });
  await using jobs = await testJobs({ handlers: [handler] });
  const job = await jobs.client.submit(pages, 1);
  await jobs.advance(300);
  mayFail.open();
  await jobs.advance(300);
  assert.is((await job.inspect()).attempt, 2);
  assert.equal(
    (await job.progress())?.lines.map(({ text }) => text),
    ['attempt 1'],
  );
  mayLog.open();
  await jobs.advance(300);
  const { progress: dead, state } = await job.inspect();
  assert.is(state, 'dead');
  assert.equal([dead?.attempt, dead?.lines.map(({ text }) => text)], [2, ['attempt 2']]);
});

progress('the items of a stream have no progress in them', async () => {
  const handler = handle(words, async function* (text, { progress: report, log }) {
    report(0.5, 'half');
    log('a line');
    yield text;
  });
  await using jobs = await testJobs({ handlers: [handler] });
  const job = await jobs.client.submit(words, 'to be', { streaming: true });
  await jobs.result(job);
  const kinds: string[] = [];
  for await (const item of job.items()) kinds.push(item.kind);
  assert.equal(kinds, ['data', 'end']);
  assert.is((await job.progress())?.note, 'half');
});

progress('of many lines the latest 100 are kept, and the others are counted', async () => {
  const handler = handle(pages, (count, { log }) => {
    for (let page = 1; page <= count; page += 1) log(page === count ? 'x'.repeat(2_000) : `${page}`);
    return '';
  });
  await using jobs = await testJobs({ handlers: [handler] });
  const job = await jobs.client.submit(pages, 1_234);
  await jobs.result(job);
  const { lines = [], dropped } = (await job.progress()) ?? {};
  assert.equal([lines.length, dropped, lines[0]?.text], [100, 1_134, '1135']);
  assert.is(lines.at(-1)?.text.length, 501);
});

progress('a share is cut to 0 and 1, and what is no share is an error of the handler', async () => {
  const handler = handle(pages, (count, { progress: report }) => {
    report(count);
    return '';
  });
  await using jobs = await testJobs({ handlers: [handler] });
  const shareOf = async (share: number): Promise<number | undefined> => {
    const job = await jobs.client.submit(pages, share);
    await jobs.result(job);
    return (await job.progress())?.share;
  };
  assert.equal([await shareOf(-3), await shareOf(0.25), await shareOf(12)], [0, 0.25, 1]);
  const wrong = handle(pages, (_, { progress: report }) => {
    report(Number.NaN);
    return '';
  });
  await using broken = await testJobs({ handlers: [wrong] });
  const failed = await broken.run(pages, 1).catch((error: Error) => error.message);
  assert.match(failed, /progress is a share from 0 to 1/);
});

progress('an attempt that waits for a warm runner at its worker says so', async () => {
  const warm = defineJob('llm.warm', { input: aString, output: aString, useStatic: true, retry });
  const mayLoad = gate();
  const handler = handle(warm, {
    load: async () => {
      await mayLoad.opened;
      return 'model';
    },
    run: (_, { loaded }) => loaded,
  });
  await using jobs = await testJobs({ handlers: [handler] });
  const job = await jobs.client.submit(warm, 'x');
  await jobs.advance(300);
  const { state, waitsForRunner } = await job.inspect();
  assert.equal([state, waitsForRunner], ['running', 'llm.warm']);
  mayLoad.open();
  assert.is(await jobs.result(job), 'model');
  assert.is((await job.inspect()).waitsForRunner, undefined);
});

progress('over TCP', async () => {
  await using folder = await tempFolder();
  const fatal = (error: Error): void => assert.unreachable(error.message);
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  const { address } = leader;
  const mayEnd = gate();
  const handlers = [
    handle(pages, async (_, { progress: report, log }) => {
      report(0.5, 'half');
      log('a line');
      await mayEnd.opened;
      return 'done';
    }),
  ];
  await using _worker = await startWorker({ address, name: 'w', handlers, heartbeatThread: false });
  await using client = await connectClient({ address });
  const job = await client.submit(pages, 1);
  await untilShare(job, 0.5);
  assert.equal(
    (await job.progress())?.lines.map(({ text }) => text),
    ['a line'],
  );
  mayEnd.open();
  assert.is(await job.result(), 'done');
});

async function untilShare(job: JobHandle<typeof pages>, share: number): Promise<void> {
  for (const end = performance.now() + 20_000; (await job.progress())?.share !== share; )
    assert.ok(performance.now() < end, `never ${share}`);
}

/** An outbox with a manual clock, and attempts with progress. */
class OutboxRig {
  readonly time = new ManualTime();
  readonly sent: AttemptProgress[] = [];
  readonly outbox = new ProgressOutbox(this.time.host, () => this.take());

  take(): void {
    this.sent.push(...(this.outbox.take() ?? []));
  }

  attempt(job: number): Attempt {
    const rest = { exec: 'doc.pages', payload: '1', client: 'c', runMs: 1_000, outputBytes: 1_000 };
    const attempt = new Attempt({ ...rest, job, attempt: 1 }, this.time.now);
    attempt.onProgress = (one) => this.outbox.add(one);
    return attempt;
  }
}

progress('progress leaves at most every 200 ms, with the latest values', () => {
  const rig = new OutboxRig();
  const attempt = rig.attempt(1);
  for (let i = 0; i < 1_000; i += 1) {
    attempt.setProgress(i / 1_000, `${i}`);
    rig.time.advance(1);
  }
  assert.ok(rig.sent.length <= 6, `${rig.sent.length} times in a second`);
  rig.time.advance(200);
  assert.equal([rig.sent.at(-1)?.share, rig.sent.at(-1)?.note], [0.999, '999']);
});

progress('the last lines of an attempt leave with its end', () => {
  const rig = new OutboxRig();
  const attempt = rig.attempt(1);
  attempt.addLine('first');
  rig.time.advance(1);
  attempt.addLine('last');
  rig.take();
  assert.equal(
    rig.sent.flatMap(({ lines }) => lines),
    ['first'],
  );
  rig.outbox.hurry(attempt);
  rig.take();
  assert.equal(
    rig.sent.flatMap(({ lines }) => lines),
    ['first', 'last'],
  );
});

progress('a report carries a bounded number of characters; the rest follows', () => {
  const rig = new OutboxRig();
  for (let job = 0; job < 100; job += 1)
    for (let i = 0; i < 10; i += 1) rig.attempt(job).addLine('x'.repeat(500));
  const first = rig.outbox.take() ?? [];
  const chars = first.flatMap(({ lines }) => lines).reduce((sum, { length }) => sum + length, 0);
  assert.ok(chars <= 70_000, `${chars} characters`);
  rig.sent.push(...first);
  for (let i = 0; i < 100; i += 1) rig.time.advance(200);
  assert.is(rig.sent.flatMap(({ lines }) => lines).length, 1_000);
});

progress.run();
