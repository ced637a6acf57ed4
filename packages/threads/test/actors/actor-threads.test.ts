import { ActorFailedError, createSystem, defineActor, type Host, nodeHost } from '@troupe/core';
import {
  type NotCloneableError,
  ThreadBlockedError,
  ThreadDefinitionError,
  type ThreadEndedError,
  threads,
  transfer,
} from '@troupe/threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Counter, Feed, Limited, Order, Prices, Slow, Source, Tally } from './counter.js';
import { FirstTwin } from './twins.js';

const actors = suite('actors on threads');

const quiet: Host = { ...nodeHost, log: () => undefined };

async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.unreachable('was not rejected'),
    (error: unknown) => error,
  );
}

actors('messages, asks, refs, errors and large and transferred payloads cross real threads', async () => {
  await using system = createSystem({ threads: threads({ count: 2 }) });
  const [one, two] = [
    system.spawn(Counter, { args: 5, on: 'any-thread' }),
    system.spawn(Counter, { args: 0, on: 'thread-2' }),
  ];
  for (let n = 1; n <= 20_000; n += 1) one.tell.add(n);
  assert.is(await one.ask.total(), 5 + (20_000 * 20_001) / 2);
  assert.equal(await Promise.all([one.ask.thread(), two.ask.thread()]), [1, 2]);
  assert.is(await one.ask.self(), one);
  one.tell.give({ to: two, n: 7 });
  while ((await two.ask.total()) === 0);
  assert.is(await two.ask.total(), 7);

  const failed = await reasonOf(one.ask.crash('no luck'));
  assert.instance(failed, ActorFailedError);
  assert.instance((failed as Error).cause, RangeError);
  assert.is(await one.ask.total(), 5, 'restarted');

  const large = new Uint8Array(3_000_000).fill(7);
  assert.equal(await one.ask.echo(large), large);
  const buffer = new ArrayBuffer(100_000);
  one.tell.add(1);
  assert.is(await one.ask.byteLength(transfer(buffer, [buffer])), 100_000);
  assert.is(buffer.byteLength, 0, 'it has moved');
  const shared = new SharedArrayBuffer(8);
  assert.instance(await one.ask.echo(shared), SharedArrayBuffer);

  const sent = await reasonOf(one.ask.echo({ rows: [{ format: () => '' }] }));
  assert.is((sent as NotCloneableError).path, 'payload.rows[0].format');
  const replied = await reasonOf(one.ask.notCloneable());
  assert.is((replied as NotCloneableError).path, 'reply.inner[1]');
});

actors(
  'payloads of a declared layout cross from every thread, and one that does not fit is refused',
  async () => {
    await using system = createSystem({ threads: threads({ count: 2 }) });
    const prices = system.spawn(Prices, { on: 'thread-1' });
    const feed = system.spawn(Feed, { on: 'thread-2' });
    prices.tell.price({ id: 2 ** 32 - 1, price: 0.1, symbol: 'größe' });
    assert.is(await prices.ask.spread({ id: 1, price: 3, symbol: '' }), 1.5);
    feed.tell.run({ to: prices, count: 20_000 });
    while ((await prices.ask.seen()).length <= 20_000);
    const [first, ...others] = await prices.ask.seen();
    assert.equal(first, { id: 2 ** 32 - 1, price: 0.1, symbol: 'größe' });
    assert.is(
      others.findIndex(({ id, price, symbol }, i) => id !== i || price !== i / 4 || symbol !== `S${i % 3}`),
      -1,
    );
    const refused = await reasonOf(prices.ask.spread({ id: 1, price: 3, symbol: 'nine bytes' }));
    assert.is((refused as NotCloneableError).code, 'ERR_NOT_CLONEABLE');
    assert.is((refused as NotCloneableError).path, 'payload.symbol');
  },
);

actors('a class that says its module is an actor on another thread', async () => {
  await using system = createSystem({ threads: threads({ count: 1 }) });
  const tally = system.spawn(Tally, { on: 'any-thread' });
  tally.tell.add('a');
  tally.tell.add('b');
  const counter = system.spawn(Counter, { args: 0, on: 'any-thread' });
  const thread = await counter.ask.thread();
  assert.is.not(thread, 0);
  assert.equal(await tally.ask.all(), [`a@${thread}`, `b@${thread}`]);
});

actors('payloads by the port and by the ring keep their order', async () => {
  await using system = createSystem({ threads: threads({ count: 1 }) });
  const ref = system.spawn(Order, { on: 'any-thread' });
  for (let n = 0; n < 300; n += 1)
    ref.tell.take({ n, bytes: n % 3 === 0 ? new Uint8Array(100_000) : new Uint8Array(n) });
  assert.equal(
    await ref.ask.taken(),
    Array.from({ length: 300 }, (_, n) => n),
  );
});

actors('a sender to a slow actor on another thread is muted, and nothing is lost', async () => {
  await using system = createSystem({ threads: threads({ count: 1 }) });
  const slow = system.spawn(Slow, { on: 'any-thread' });
  let muted = 0;
  using _ = system.on('suspended', ({ reason }) => {
    if (reason === 'backpressure') muted += 1;
  });
  const source = system.spawn(Source);
  source.tell.run({ to: slow, count: 20_000 });
  while ((await source.ask.sent()) < 20_000);
  while ((await slow.with({ withinMs: 30_000 }).ask.handled()) < 20_000);
  assert.ok(muted > 0, 'the proxy was suspended');
  assert.is(system.stats().deadLetters, 0);
});

actors(
  'a thread that exits is replaced: its actors are restarted and open asks end with the reason',
  async () => {
    await using system = createSystem({ threads: threads({ count: 2 }) });
    const [one, two] = [
      system.spawn(Counter, { args: 3, on: 'thread-1' }),
      system.spawn(Counter, { args: 4, on: 'thread-2' }),
    ];
    one.tell.add(10);
    assert.is(await one.ask.total(), 13);
    assert.is(await reasonOf(one.ask.exit(9)).then((error) => (error as ThreadEndedError).exitCode), 9);
    assert.is(await one.ask.total(), 3, 'a new state on a new thread');
    two.tell.give({ to: one, n: 2 });
    while ((await one.ask.total()) === 3);
    assert.is(await one.ask.total(), 5, 'the other thread reaches the new one');
  },
);

actors('a thread that runs out of memory is replaced, and the process lives', async () => {
  const limits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 8 };
  await using system = createSystem({ threads: threads({ count: 1, resourceLimits: limits }) });
  const ref = system.spawn(Counter, { args: 1, on: 'any-thread' });
  const error = await reasonOf(system.ask(ref, { withinMs: 30_000 }).allocate());
  assert.is((error as { code: string }).code, 'ERR_THREAD_MEMORY');
  assert.is(await ref.ask.total(), 1);
});

actors('a definition that a thread cannot find is refused with what to do', async () => {
  const inFunction = () => defineActor('inside a function', { handlers: { ping() {} } });
  const Elsewhere = defineActor('counter', {
    handlers: { other() {} },
    module: new URL('./counter.js', import.meta.url).href,
  });
  const Missing = defineActor('missing', {
    handlers: { ping() {} },
    module: new URL('./counter.js', import.meta.url).href,
  });
  const lines: string[] = [];
  await using system = createSystem({ threads: threads({ count: 1 }) });
  using _ = system.on('failed', ({ error, directive }) => lines.push(`${directive} ${error.message}`));
  assert.throws(
    () => system.spawn(inFunction(), { on: 'any-thread' }),
    (error: unknown) => error instanceof ThreadDefinitionError && /started with/.test(error.message),
  );
  for (const Wrong of [Elsewhere, Missing, FirstTwin] as unknown as (typeof Missing)[]) {
    const known = lines.length;
    system.spawn(Wrong, { on: 'any-thread' });
    while (lines.length === known) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.match(lines[0] ?? '', /stop .*handlers other here/);
  assert.match(lines[1] ?? '', /stop .*exports no definition/);
  assert.match(lines[2] ?? '', /stop .*exports two definitions/);
  assert.throws(() => system.spawn(Counter, { args: 1, on: 'nowhere' }), /thread-1/);
});

actors('a thread that does not answer is reported with actor and message, and goes on', async () => {
  await using system = createSystem({ host: quiet, threads: threads({ count: 1 }), stuckAfterMs: 300 });
  const reports: unknown[] = [];
  using _ = system.on('blocked', (event) => reports.push(event));
  const counter = system.spawn(Counter, { args: 1, on: 'any-thread', name: 'slow' });
  await system.ask(counter, { withinMs: 20_000 }).spin(1_200);
  assert.is(await counter.ask.total(), 1, 'not ended');
  const [report] = reports as { readonly ms: number }[];
  assert.is(reports.length, 1);
  assert.ok((report?.ms ?? 0) >= 300);
  const expected = { kind: 'blocked', thread: 'thread-1', path: '/slow', message: 'spin', ms: report?.ms };
  assert.equal(report, expected);
});

actors(
  'blockedKillMs ends a thread that does not answer; the limit of a handler does so without it',
  async () => {
    await using system = createSystem({ host: quiet, threads: threads({ count: 2, blockedKillMs: 600 }) });
    const [counter, limited] = [
      system.spawn(Counter, { args: 1, on: 'thread-1', name: 'counter' }),
      system.spawn(Limited, { on: 'thread-2', name: 'limited' }),
    ];
    const spun = await reasonOf(system.ask(counter, { withinMs: 30_000 }).spin(600_000));
    assert.instance(spun, ThreadBlockedError);
    const { path, handler, limitMs } = spun as ThreadBlockedError;
    assert.equal([path, handler, limitMs], ['/counter', 'spin', 600]);
    assert.is(await system.ask(counter, { withinMs: 20_000 }).total(), 1, 'restarted');
    const looped = await reasonOf(system.ask(limited, { withinMs: 30_000 }).loop());
    assert.equal(
      [(looped as ThreadBlockedError).handler, (looped as ThreadBlockedError).limitMs],
      ['loop', 200],
    );
    assert.is(await system.ask(limited, { withinMs: 20_000 }).wait(), 'done', 'waiting is not blocking');
  },
);

actors.run();
