// timeout: 60s
import { defineJob, type HandledJob, handle } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { aNumber, anything, aString, schema } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';
import { all, codeOf, type FeedPlace, inOneProcess, overTcp } from './feed-worlds.js';

const retry = { attempts: 3, baseMs: 1, capMs: 5, jitter: 0 };
const list = schema<unknown[]>('list', Array.isArray);
const listed = (all: unknown[] | undefined, chunk: unknown): unknown[] => [...(all ?? []), chunk];
/** Echoes what it is fed. */
const echo = defineJob('feed.echo', {
  input: aString,
  output: list,
  chunk: anything,
  collect: listed,
  feed: anything,
  retry,
});
const words = defineJob('feed.words', {
  input: aString,
  output: aString,
  chunk: aString,
  feed: aString,
  retry,
});
/** Streams, and is not fed. */
const mute = defineJob('feed.mute', { input: aString, output: aString, chunk: aString, retry });
const plain = defineJob('feed.plain', { input: aString, output: aString, retry });

const echoing = handle(echo, async function* (_input, { feed }) {
  for await (const item of feed) yield item;
});

async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 5));
}

function suiteOf(name: string, place: FeedPlace): void {
  const feeding = suite(`feeding ${name}`);

  feeding('items reach the runner in the order of the calls, and its loop ends with the feed', async () => {
    await using world = await place([echoing]);
    const job = await world.client.submit(echo, '', { streaming: true });
    const receipts = await Promise.all(Array.from({ length: 300 }, (_, i) => job.feed(i)));
    assert.ok(receipts.every(({ accepted }) => accepted === true));
    assert.equal(await job.feed('last', { final: true }), { accepted: true });
    const expected = [...Array.from({ length: 300 }, (_, i) => i), 'last'];
    assert.equal(await job.result(), expected);
    assert.equal(await all(job.stream()), expected);
  });

  feeding('a job that waits keeps its items, and ready resolves when its handler has begun', async () => {
    await using world = await place([]);
    const job = await world.client.submit(echo, '', { streaming: true });
    assert.equal(await job.feed('early'), { accepted: true });
    let isReady = false;
    const ready = job.ready.then(() => {
      isReady = true;
    });
    assert.equal(await job.feed('earlier still'), { accepted: true });
    assert.is((await job.inspect()).state, 'queued');
    assert.not(isReady);
    assert.is(job.fed, 0);
    await world.work([echoing]);
    await ready;
    await until(() => job.fed === 2);
    await job.endFeed();
    assert.equal(await job.result(), ['early', 'earlier still']);
  });

  feeding('a runner answers while it is fed', async () => {
    await using world = await place([echoing]);
    const job = await world.client.submit(echo, '', { streaming: true });
    const chunks = job.stream();
    for (const item of ['one', 'two', 'three']) {
      await job.feed(item);
      assert.equal(await chunks.next(), { done: false, value: item });
    }
    await job.endFeed();
    assert.equal(await chunks.next(), { done: true, value: undefined });
  });

  feeding('another process feeds the job by its id', async () => {
    await using world = await place([echoing]);
    const job = await world.client.submit(echo, '', { streaming: true });
    const other = (await world.another()).open(echo, job.id);
    await other.feed('from there');
    await job.feed('from here');
    await other.feed('and there again', { final: true });
    assert.equal(await job.result(), ['from there', 'from here', 'and there again']);
    const again = (await world.another()).open(echo, job.id);
    assert.is(await codeOf(again.feed('late')), 'FAILED_PRECONDITION ERR_FEED_ENDED');
  });

  feeding('several jobs are fed at once in one worker, each with its own items', async () => {
    await using world = await place([echoing]);
    const submits = Array.from({ length: 3 }, () => world.client.submit(echo, '', { streaming: true }));
    const jobs = await Promise.all(submits);
    await Promise.all(jobs.map((job) => job.ready));
    const itemsOf = (job: number): string[] => Array.from({ length: 20 }, (_, i) => `${job}/${i}`);
    const feed = async (job: (typeof jobs)[number], at: number): Promise<void> => {
      for (const item of itemsOf(at)) await job.feed(item);
      await job.endFeed();
    };
    await Promise.all(jobs.map(feed));
    for (const [at, job] of jobs.entries()) assert.equal(await job.result(), itemsOf(at));
  });

  feeding('a new attempt gets every item again, from the first on, and then the new ones', async () => {
    const seen: unknown[][] = [];
    await using world = await place([
      handle(echo, async function* (_input, { feed, attempt }) {
        const taken: unknown[] = [];
        seen.push(taken);
        for await (const item of feed) {
          taken.push(item);
          if (attempt < 3 && taken.length === 2) throw new Error('once more');
          yield item;
        }
      }),
    ]);
    const job = await world.client.submit(echo, '', { streaming: true });
    await job.feed('a');
    await job.feed('b');
    await until(() => seen.length === 3 && seen[2]?.length === 2);
    await job.feed('c', { final: true });
    assert.equal(await job.result(), ['a', 'b', 'c']);
    assert.equal(seen, [
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b', 'c'],
    ]);
  });

  // The table of docs/guides/streaming.md, in its order.
  feeding('each bad use of a feed has its answer, and nothing is lost by it', async () => {
    await using world = await place([
      echoing,
      handle(mute, async function* (input, { signal }) {
        yield input;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }),
      handle(plain, (input) => input),
    ]);
    const { client } = world;
    const job = await client.submit(echo, '', { streaming: true });
    assert.is(await codeOf(job.feed(undefined)), 'INVALID_ARGUMENT ERR_FEED_EMPTY');
    const stranger = client.open(echo, job.id.replace(/[^-]+$/, 'zzz'));
    assert.is(await codeOf(stranger.feed(undefined)), 'INVALID_ARGUMENT ERR_FEED_EMPTY');
    assert.is(await codeOf(stranger.feed(1)), 'NOT_FOUND ERR_JOB_UNKNOWN');
    assert.is(await codeOf(stranger.endFeed()), 'NOT_FOUND ERR_JOB_UNKNOWN');
    assert.is(await codeOf(stranger.ready), 'NOT_FOUND ERR_JOB_UNKNOWN');
    const unstreamed = await client.submit(echo, '');
    assert.is(await codeOf(unstreamed.feed(1)), 'FAILED_PRECONDITION ERR_FEED_UNSUPPORTED');
    // Its feed has ended, so its handler did not wait.
    await until(async () => (await unstreamed.inspect()).endedAt > 0);
    const unfed = await client.submit(mute, 'x', { streaming: true });
    assert.is(await codeOf(client.open(echo, unfed.id).feed(1)), 'FAILED_PRECONDITION ERR_FEED_UNSUPPORTED');
    const notStreaming = await client.submit(plain, 'x');
    assert.is(
      await codeOf(client.open(echo, notStreaming.id).feed(1)),
      'FAILED_PRECONDITION ERR_FEED_UNSUPPORTED',
    );
    const large = 'x'.repeat(300_000);
    assert.is(await codeOf(job.feed(large)), 'INVALID_ARGUMENT ERR_PAYLOAD_TOO_LARGE');
    await job.feed('kept');
    await job.feed('last', { final: true });
    assert.is(await codeOf(job.feed('behind the end')), 'FAILED_PRECONDITION ERR_FEED_ENDED');
    assert.is(await codeOf(job.endFeed()), 'FAILED_PRECONDITION ERR_FEED_ENDED');
    assert.equal(await job.result(), ['kept', 'last']);
    assert.is(await codeOf(job.feed('behind the job')), 'FAILED_PRECONDITION ERR_FEED_ENDED');
    await unfed.cancel();
    const cancelled = await client.submit(echo, '', { streaming: true });
    await cancelled.cancel();
    assert.is(await codeOf(cancelled.feed(1)), 'FAILED_PRECONDITION ERR_FEED_ENDED');
  });

  feeding('an item that does not fit the schema is refused before it is sent', async () => {
    await using world = await place([
      handle(words, async function* (_input, { feed }) {
        for await (const word of feed) yield word;
      }),
    ]);
    const job = await world.client.submit(words, '', { streaming: true });
    // The type forbids it as the schema does.
    assert.is(await codeOf(job.feed(7 as unknown as string)), 'ERR_JOB_SCHEMA');
    await job.feed('fits', { final: true });
    assert.is(await job.result(), 'fits');
  });

  feeding(
    'a runner that takes nothing makes its clients wait, with a deadline, and loses nothing',
    async () => {
      let goOn: () => void = () => undefined;
      const mayGoOn = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await using world = await place([
        handle(echo, async function* (_input, { feed }) {
          await mayGoOn;
          let bytes = 0;
          for await (const item of feed) bytes += (item as string).length;
          yield bytes;
        }),
      ]);
      const job = await world.client.submit(echo, '', { streaming: true });
      const item = 'x'.repeat(100_000);
      let accepted = 0;
      const feeding = Array.from({ length: 40 }, () => job.feed(item).then(() => (accepted += 1)));
      await job.ready;
      await until(() => accepted >= 9);
      assert.is(await codeOf(job.feed('in time', { withinMs: 50 })), 'ERR_FEED_WAIT');
      const stop = new AbortController();
      const stopped = job.feed('not at all', { signal: stop.signal });
      stop.abort(Object.assign(new Error('no more'), { code: 'STOPPED' }));
      assert.is(await codeOf(stopped), 'STOPPED');
      assert.ok(accepted < 20, `${accepted} of 40 items of 100 kB accepted while none was taken`);
      goOn();
      await Promise.all(feeding);
      await job.endFeed();
      assert.equal(await job.result(), [4_000_000]);
    },
  );

  feeding('a feed that no client has open ends after its grace, and the runner knows that', async () => {
    const lonely = defineJob('feed.lonely', {
      input: aString,
      output: list,
      chunk: anything,
      collect: listed,
      feed: anything,
      limits: { feedGraceMs: 150 },
    });
    await using world = await place([
      handle(lonely, async function* (_input, { feed }) {
        for await (const item of feed) yield item;
        yield feed.isAbandoned;
      }),
    ]);
    const short = await world.another();
    const job = await short.submit(lonely, '', { streaming: true });
    await job.feed('one');
    await job.ready;
    const watcher = world.client.open(lonely, job.id);
    short.close();
    assert.equal(await watcher.result(), ['one', true]);
    // A client that has it open, and feeds nothing, keeps it open.
    const open = await world.client.submit(lonely, '', { streaming: true });
    await open.ready;
    await new Promise((resolve) => setTimeout(resolve, 400));
    await open.feed('late', { final: true });
    assert.equal(await open.result(), ['late', false]);
  });

  feeding(
    'a feed beyond its bound is not kept, the job is not tried again, and inspect says so',
    async () => {
      const long = defineJob('feed.long', {
        input: aString,
        output: aNumber,
        chunk: aNumber,
        collect: (sum = 0, chunk) => sum + chunk,
        feed: aString,
        retry: { ...retry, attempts: 3 },
        limits: { feedBytesMax: 300_000 },
      });
      const attempts: number[] = [];
      const handlers: HandledJob[] = [
        handle(long, async function* (input, { feed, attempt }) {
          attempts.push(attempt);
          let bytes = 0;
          for await (const item of feed) {
            bytes += item.length;
            if (input === 'fail' && bytes > 900_000) throw new Error('too much');
          }
          yield bytes;
        }),
      ];
      await using world = await place(handlers);
      const { client } = world;
      const piece = 'x'.repeat(200_000);
      const good = await client.submit(long, 'end', { streaming: true });
      for (let i = 0; i < 12; i += 1) await good.feed(piece);
      await until(() => good.fed === 12);
      const { feed } = await good.inspect();
      assert.is(feed?.items, 12);
      assert.is(feed?.isReplayable, false);
      assert.ok((feed?.keptBytes ?? Infinity) < 600_000, `${feed?.keptBytes} bytes kept of 2,400,000`);
      await good.endFeed();
      assert.is(await good.result(), 2_400_000);
      attempts.length = 0;
      const bad = await client.submit(long, 'fail', { streaming: true });
      let refused = '';
      for (let i = 0; i < 20 && refused === ''; i += 1) {
        const code = await codeOf(bad.feed(piece));
        if (code !== 'no error') refused = code;
      }
      assert.is(refused, 'FAILED_PRECONDITION ERR_FEED_ENDED');
      assert.is(await codeOf(bad.result()), 'ERR_JOB_FAILED');
      const view = await bad.inspect();
      assert.is(`${view.state} ${view.reason}`, 'dead feed-dropped');
      assert.is(view.feed?.isReplayable, false);
      assert.match(view.failure?.message ?? '', 'too much');
      assert.equal(attempts, [1]);
      assert.is(await client.redrive([bad.id]), 0);
    },
  );

  feeding('the end of an attempt is no end of the feed to its handler', async () => {
    let error: unknown;
    let tellEnd: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      tellEnd = resolve;
    });
    await using world = await place([
      handle(echo, async function* (_input, { feed }) {
        try {
          for await (const item of feed) yield item;
        } catch (cause) {
          error = cause;
          tellEnd();
          throw cause;
        }
      }),
    ]);
    const job = await world.client.submit(echo, '', { streaming: true });
    await job.ready;
    await job.cancel('enough');
    await ended;
    assert.is((error as { code?: string }).code, 'ERR_ATTEMPT_ABORTED');
  });

  feeding.run();
}

suiteOf('in one process', inOneProcess);
suiteOf('over TCP', overTcp);

const restarts = suite('feeding over restarts');

restarts('a restart of the leader loses no accepted item and doubles none', async () => {
  await using folder = await tempFolder();
  const options = { dir: folder.path, onFatal: (error: Error) => assert.unreachable(error.message) };
  let leader = await startLeader(options);
  const { address } = leader;
  const worker = await startWorker({
    address,
    name: 'w',
    handlers: [echoing],
    heartbeatThread: false,
  });
  await using client = await connectClient({ address });
  const job = await client.submit(echo, '', { streaming: true });
  const expected: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const first = expected.length;
    for (let i = first; i < first + 50; i += 1) expected.push(i);
    const feeding = expected.slice(first).map((item) => job.feed(item));
    await feeding[0];
    await leader.close({ withinMs: 0 });
    leader = await startLeader({ ...options, address });
    await Promise.all(feeding);
  }
  await job.endFeed();
  assert.equal(await job.result(), expected);
  await worker.close({ withinMs: 0 });
  await leader.close();
});

restarts.run();
