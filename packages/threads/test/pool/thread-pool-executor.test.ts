import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PoolRig, turns } from './pool-rig.js';

const pools = suite('ThreadPoolExecutor in virtual time');

const codeOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    (value) => ({ value }),
    (error: { code?: string }) => error.code,
  );

pools('a discarded task is an event and, if it was submitted, a rejection', async () => {
  const rig = new PoolRig({ maxThreads: 1, synchronous: true, fallback: 'discard' });
  rig.pool.post(rig.tasks.a);
  assert.is(rig.pool.post(rig.tasks.b), 'discarded');
  assert.is(await codeOf(rig.tasks.c()), 'ERR_POOL_FULL');
  assert.equal([rig.pool.counters.rejected, rig.kinds()], [2, ['task-rejected', 'task-rejected']]);
});

pools('a synchronous pool hands over or refuses, and has no maxQueue', async () => {
  const rig = new PoolRig({ maxThreads: 1, synchronous: true });
  rig.pool.post(rig.tasks.a);
  assert.is(await codeOf(rig.tasks.b()), 'ERR_POOL_FULL');
  rig.up().finish('a');
  assert.is(rig.pool.post(rig.tasks.b), 'started');
  assert.throws(() => new PoolRig({ synchronous: true, maxQueue: 3 }), /no queue/);
});

pools('a waiting task enters the queue when there is room, in order', async () => {
  const rig = new PoolRig({ maxThreads: 1, maxQueue: 1, fallback: 'wait' });
  const order: string[] = [];
  for (const name of ['a', 'b', 'c', 'd'] as const) void rig.tasks[name]().then((value) => order.push(value));
  assert.equal([rig.pool.counters.queueLength, rig.pool.counters.waiting], [1, 2]);
  rig.up();
  for (const name of ['a', 'b', 'c', 'd']) rig.finish(name);
  await turns();
  assert.equal(order, ['a', 'b', 'c', 'd']);
});

pools('waiting tasks have a limit too', () => {
  const rig = new PoolRig({ maxThreads: 1, maxQueue: 1, fallback: 'wait' });
  const results = Array.from({ length: 66 }, () => rig.pool.post(rig.tasks.a));
  assert.equal([results.at(0), results.at(1), results.at(-1)], ['started', 'queued', 'waiting']);
  assert.throws(
    () => rig.pool.post(rig.tasks.a),
    (error: { code: string }) => error.code === 'ERR_POOL_FULL',
  );
});

pools('caller-runs runs the function here, on copies of its arguments', async () => {
  const rig = new PoolRig({ maxThreads: 1, synchronous: true, fallback: 'caller-runs' });
  const given = { changed: false };
  rig.module['b'] = (value: { changed: boolean }) => {
    value.changed = true;
    return value;
  };
  rig.pool.post(rig.tasks.a);
  assert.equal(await rig.tasks.b(given), { changed: true });
  assert.is(given.changed, false);
  assert.equal([rig.pool.counters.ranHere, rig.pool.counters.scheduled], [1, 1]);
});

pools('caller-runs that runs a task of a full pool again does not grow the stack', async () => {
  const rig = new PoolRig({ maxThreads: 1, synchronous: true, fallback: 'caller-runs' });
  let left = 1_000;
  rig.module['b'] = () => {
    left -= 1;
    if (left > 0) assert.is(rig.pool.post(rig.tasks.b), 'ran-here');
  };
  rig.pool.post(rig.tasks.a);
  await rig.tasks.b();
  while (left > 0) await turns();
  assert.is(rig.pool.counters.ranHere, 1_000);
});

pools('a listener may call the pool: its state is consistent by then', () => {
  const rig = new PoolRig({ maxThreads: 1, maxQueue: 1 });
  const seen: unknown[] = [];
  rig.pool.subscribe((event) => {
    if (event.kind !== 'task-failed') return;
    const { active, queueLength } = rig.pool.counters;
    seen.push([active, queueLength], rig.pool.post(rig.tasks.c));
  });
  rig.pool.post(rig.tasks.boom);
  rig.pool.post(rig.tasks.a);
  rig.up().finish('boom', new Error('bad'));
  assert.equal(seen, [[1, 0], 'queued'], 'the queued task has its thread already');
});

pools('a refusal may be answered by another task from within the listener', () => {
  const rig = new PoolRig({ maxThreads: 1, synchronous: true, fallback: 'discard' });
  rig.pool.subscribe((event) => {
    if (event.kind === 'task-rejected' && event.task === 'b') rig.pool.post(rig.tasks.c);
  });
  rig.pool.post(rig.tasks.a);
  assert.is(rig.pool.post(rig.tasks.b), 'discarded');
  assert.equal(
    rig.events.map((event) => 'task' in event && event.task),
    ['b', 'c'],
  );
});

pools('a listener that throws is logged and disturbs nothing', () => {
  const rig = new PoolRig();
  rig.pool.subscribe(() => {
    throw new Error('listener');
  });
  rig.pool.post(rig.tasks.a);
  rig.up().finish('a');
  assert.match(rig.host.logged[0]?.message ?? '', /a listener threw/);
  assert.is(rig.pool.counters.completed, 1);
});

pools('tasks of higher priority run first, among equals the first submitted', () => {
  const rig = new PoolRig({ maxThreads: 1 });
  rig.pool.post(rig.tasks.a);
  rig.up();
  rig.pool.post(rig.tasks.b);
  rig.pool.post(rig.tasks.c);
  rig.pool.post(rig.tasks.with({ priority: 1 }).d);
  for (const name of ['a', 'd', 'b', 'c']) rig.finish(name);
  assert.is(rig.pool.counters.completed, 4);
});

pools('a task of higher priority overtakes tasks that were sent ahead to a thread', () => {
  const rig = new PoolRig({ maxThreads: 1 });
  const warmUp = Array.from({ length: 3 }, () => rig.pool.post(rig.tasks.a));
  rig.up();
  for (const _ of warmUp) rig.finish('a');
  rig.pool.post(rig.tasks.a);
  rig.pool.post(rig.tasks.b);
  rig.pool.post(rig.tasks.c);
  rig.host.runCallbacks();
  assert.equal(rig.atThreads(), [['a', 'b', 'c']]);
  rig.pool.post(rig.tasks.with({ priority: 5 }).d);
  rig.host.runCallbacks();
  rig.finish('a');
  rig.finish('d');
  rig.finish('b');
  assert.is(rig.pool.counters.completed, 6);
});

pools('a task that was sent ahead to a slow thread goes to the thread that is free first', async () => {
  const rig = new PoolRig({ maxThreads: 2 });
  for (let round = 0; round < 3; round += 1) {
    rig.pool.post(rig.tasks.a);
    rig.pool.post(rig.tasks.b);
    rig.up();
    rig.finish('a');
    rig.finish('b');
  }
  rig.pool.post(rig.tasks.a);
  rig.pool.post(rig.tasks.b);
  const result = rig.tasks.c();
  rig.host.runCallbacks();
  const slow = rig.atThreads().find((names) => names.includes('c'))?.[0];
  rig.finish(slow === 'a' ? 'b' : 'a');
  rig.finish('c');
  assert.is(await result, 'c');
});

pools('a queued task that is cancelled never runs', async () => {
  const rig = new PoolRig({ maxThreads: 1 });
  const abort = new AbortController();
  rig.pool.post(rig.tasks.a);
  const result = codeOf(rig.tasks.with({ signal: abort.signal }).b());
  rig.up();
  abort.abort();
  assert.is(await result, 'ERR_TASK_CANCELLED');
  rig.finish('a');
  assert.equal([rig.atThreads(), rig.pool.counters.cancelled], [[[]], 1]);
});

pools('a running task that is cancelled gets its signal, then its thread ends and is replaced', async () => {
  const rig = new PoolRig({ maxThreads: 1, graceMs: 50 });
  const abort = new AbortController();
  const result = codeOf(rig.tasks.with({ signal: abort.signal }).a());
  const next = rig.tasks.b();
  rig.up();
  rig.threads.claim([...rig.threads.threads.keys()][0]!);
  abort.abort();
  assert.is(await result, 'ERR_TASK_CANCELLED', 'the caller does not wait for the thread');
  assert.is(rig.threads.cancelled[0]?.name, 'a');
  assert.equal(
    [rig.pool.counters.cancelled, rig.pool.counters.active],
    [0, 1],
    'it counts when it has ended',
  );
  rig.advance(50);
  rig.threads.endEnding();
  rig.up().finish('b');
  assert.is(await next, 'b');
  assert.equal([rig.pool.counters.cancelled, rig.pool.counters.failed], [1, 0]);
});

pools('a task that reacts to its signal in time keeps its thread', async () => {
  const rig = new PoolRig({ maxThreads: 1, graceMs: 50 });
  const result = codeOf(rig.tasks.with({ withinMs: 10 }).a());
  rig.up();
  rig.threads.claim([...rig.threads.threads.keys()][0]!);
  rig.advance(10);
  assert.is(await result, 'ERR_TASK_TIMEOUT');
  rig.finish('a', new Error('aborted'));
  rig.advance(100);
  assert.equal([rig.pool.counters.idleThreads, rig.pool.counters.failed], [1, 1]);
  assert.is(rig.kinds().filter((kind) => kind === 'task-failed').length, 1);
});

pools('the time limit of a queued task takes it out of the queue', async () => {
  const rig = new PoolRig({ maxThreads: 1 });
  rig.pool.post(rig.tasks.a);
  const result = codeOf(rig.tasks.with({ withinMs: 10 }).b());
  rig.advance(10);
  assert.is(await result, 'ERR_TASK_TIMEOUT');
  assert.is(rig.pool.counters.queueLength, 0);
});

pools('a signal that has fired already refuses the task', async () => {
  const rig = new PoolRig();
  const { tasks } = rig;
  assert.is(await codeOf(tasks.with({ signal: AbortSignal.abort() }).a()), 'ERR_TASK_CANCELLED');
  assert.is(rig.pool.counters.scheduled, 0);
});

pools('a task of a thread that is still starting goes to a thread that is free first', async () => {
  const rig = new PoolRig({ maxThreads: 2 });
  rig.pool.post(rig.tasks.a);
  rig.up();
  const result = rig.tasks.b();
  rig.finish('a');
  rig.finish('b');
  assert.is(await result, 'b');
});

pools('resize takes effect at run time: more threads for the queue, fewer after their tasks', () => {
  const rig = new PoolRig({ maxThreads: 1 });
  for (const name of ['a', 'b', 'c'] as const) rig.pool.post(rig.tasks[name]);
  rig.pool.resize({ maxThreads: 3 });
  assert.equal([rig.pool.counters.threads, rig.pool.counters.queueLength], [3, 0]);
  rig.up();
  rig.pool.resize({ maxThreads: 1 });
  for (const name of ['a', 'b', 'c']) rig.finish(name);
  assert.equal([rig.pool.counters.threads, rig.pool.counters.completed], [1, 3]);
  assert.throws(() => rig.pool.resize({ maxThreads: 0 }), /whole number/);
});

pools('shutdown drains the queue, and kills what is left after its time', async () => {
  const rig = new PoolRig({ maxThreads: 1 });
  const results = [rig.tasks.a(), rig.tasks.b()].map(codeOf);
  rig.up();
  const ended = rig.pool.shutdown({ withinMs: 100 });
  assert.is(await codeOf(rig.tasks.c()), 'ERR_POOL_SHUT_DOWN');
  rig.finish('a');
  rig.advance(100);
  await turns();
  rig.threads.endEnding();
  assert.is(await ended, 'killed');
  assert.equal(await Promise.all(results), [{ value: 'a' }, 'ERR_POOL_SHUT_DOWN']);
});

pools('waitForTermination does not shut down, and is false when its time is over', async () => {
  const rig = new PoolRig();
  const waited = rig.pool.waitForTermination({ withinMs: 20 });
  rig.advance(20);
  assert.equal([await waited, rig.pool.state], [false, 'running']);
  await rig.pool.shutdown();
  assert.is(await rig.pool.waitForTermination(), true);
});

pools('tasks are safe to await, unknown options are refused, and other functions are no tasks', async () => {
  const rig = new PoolRig();
  assert.is((await Promise.resolve(rig.tasks)) as unknown, rig.tasks);
  assert.throws(() => rig.tasks.with({ prio: 1 } as never), /no such option/);
  assert.throws(() => new PoolRig({ threads: 3 } as never), /no such option/);
  assert.throws(() => rig.pool.post((() => 1) as never), /pool\.tasks/);
  assert.throws(() => rig.pool.tasks('./relative.js'), /absolute URL/);
});

pools('an abandoned stream cancels its task', async () => {
  const rig = new PoolRig({ maxThreads: 1 });
  const items = rig.tasks.items();
  rig.up();
  rig.threads.startStream('items');
  const iterator = await items;
  await iterator.return?.();
  assert.is(rig.threads.cancelled[0]?.name, 'items');
  rig.finish('items');
  assert.is(rig.pool.counters.cancelled, 1);
});

pools.run();
