import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PoolEvent } from '#src/pool/pool-event.js';
import { PoolRig, turns } from './pool-rig.js';

const holes = suite('holes of the design');

const codeOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    (value) => ({ value }),
    (error: { code?: string }) => error.code,
  );

holes('pruning never ends a thread that was just given a task', async () => {
  const rig = new PoolRig({ maxThreads: 1, idleMs: 10 });
  rig.tasks.a();
  rig.up().finish('a');
  rig.advance(9.5);
  const result = rig.tasks.b();
  rig.advance(5);
  assert.equal(rig.atThreads(), [['b']]);
  rig.finish('b');
  assert.is(await result, 'b');
  rig.advance(10);
  rig.threads.endEnding();
  assert.is(rig.pool.counters.threads, 0, 'and ends it once it has been idle for the time');
});

holes('a task that arrives while its thread is being ended gets a new thread', async () => {
  const rig = new PoolRig({ maxThreads: 1, idleMs: 10 });
  rig.tasks.a();
  rig.up().finish('a');
  rig.advance(10);
  const result = rig.tasks.b();
  rig.threads.endEnding();
  rig.up().finish('b');
  assert.is(await result, 'b');
});

holes(
  'a thread that dies during shutdown is replaced until the queue is empty, then the pool has ended',
  async () => {
    const rig = new PoolRig({ maxThreads: 1 });
    const results = [rig.tasks.a(), rig.tasks.b()].map(codeOf);
    rig.up();
    const ended = rig.pool.shutdown();
    rig.threads.endThread('a', Object.assign(new Error('gone'), { code: 'ERR_THREAD_ENDED' }));
    assert.is(rig.pool.state, 'shutting-down');
    rig.up().finish('b');
    rig.threads.endEnding();
    assert.equal(await Promise.all(results), ['ERR_THREAD_ENDED', { value: 'b' }]);
    assert.equal([await ended, rig.pool.state], ['drained', 'shut-down']);
  },
);

holes('a thread that cannot be created is reported, and the task goes to a thread that exists', async () => {
  const rig = new PoolRig({ maxThreads: 2 });
  const results = [rig.tasks.a()];
  rig.up();
  rig.threads.startsFail = true;
  results.push(rig.tasks.b());
  assert.ok(rig.kinds().includes('thread-start-failed'));
  assert.is(rig.pool.counters.queueLength, 1);
  rig.finish('a');
  rig.finish('b');
  assert.equal(await Promise.all(results), ['a', 'b']);
});

holes('below the minimum an idle thread takes the task, also if no thread can be created', async () => {
  const rig = new PoolRig({ minThreads: 2, maxThreads: 2 });
  rig.tasks.a();
  rig.up().finish('a');
  rig.threads.startsFail = true;
  const result = rig.tasks.b();
  rig.finish('b');
  assert.is(await result, 'b');
  assert.equal([rig.pool.counters.queueLength, rig.pool.counters.idleThreads], [0, 1]);
});

holes('without any thread a task is refused, not queued for ever', async () => {
  const rig = new PoolRig();
  rig.threads.startsFail = true;
  let error: unknown;
  await Promise.resolve(rig.tasks.a()).catch((reason: unknown) => {
    error = reason;
  });
  assert.match(String(error), /no thread can be created/);
  assert.equal([rig.pool.counters.rejected, rig.pool.counters.scheduled], [1, 0]);
});

holes('tasks of threads that end before they are up do not wait for ever', async () => {
  const rig = new PoolRig({ maxThreads: 2 });
  const results = [rig.tasks.a(), rig.tasks.b(), rig.tasks.c()].map(codeOf);
  rig.threads.endStarting(Object.assign(new Error('no boot'), { code: 'ERR_THREAD_START' }));
  assert.equal(await Promise.all(results), ['ERR_THREAD_START', 'ERR_THREAD_START', 'ERR_THREAD_START']);
  assert.is(rig.pool.counters.failed, 3);
});

for (const options of [
  { maxThreads: 0 },
  { minThreads: 2, maxThreads: 1 },
  { maxQueue: 0 },
  { idleMs: -1 },
]) {
  holes(`${JSON.stringify(options)} is refused`, () => {
    assert.throws(
      () => new PoolRig(options),
      (error: { code: string }) => error.code === 'ERR_OPTION',
    );
  });
}

holes('completed, failed and cancelled exclude each other, and what is left is pending', async () => {
  const rig = new PoolRig({ maxThreads: 1 });
  const abort = new AbortController();
  const results = [rig.tasks.a(), rig.tasks.boom(), rig.tasks.with({ signal: abort.signal }).b()].map(codeOf);
  results.push(codeOf(rig.tasks.c()));
  rig.up().finish('a');
  abort.abort();
  rig.finish('boom', Object.assign(new Error('bad'), { code: 'ERR_TASK_FAILED' }));
  await turns();
  const { scheduled, completed, failed, cancelled, active, queueLength } = rig.pool.counters;
  assert.equal([scheduled, completed, failed, cancelled, active, queueLength], [4, 1, 1, 1, 1, 0]);
});

holes('the error of a submitted task reaches its promise, the hook and the listeners', async () => {
  const rig = new PoolRig();
  const heard: PoolEvent[] = [];
  const unsubscribe = rig.pool.subscribe((event) => heard.push(event));
  const result = codeOf(rig.tasks.boom());
  rig.up().finish('boom', Object.assign(new Error('bad'), { code: 'ERR_TASK_FAILED' }));
  assert.is(await result, 'ERR_TASK_FAILED');
  assert.equal([rig.kinds().at(-1), heard.at(-1)?.kind], ['task-failed', 'task-failed']);
  unsubscribe();
});

holes('the error of a posted task is an event, and a log line if nothing listens', () => {
  const rig = new PoolRig({}, { listens: false });
  rig.pool.post(rig.tasks.boom);
  rig.up().finish('boom', new Error('bad'));
  assert.match(rig.host.logged.at(-1)?.message ?? '', /task-failed: bad/);
});

holes('kill settles every task: running, queued and waiting', async () => {
  const rig = new PoolRig({ maxThreads: 1, maxQueue: 1, fallback: 'wait' });
  const results = [rig.tasks.a(), rig.tasks.b(), rig.tasks.c()].map(codeOf);
  rig.up();
  const killed = rig.pool.kill();
  const code = 'ERR_POOL_SHUT_DOWN';
  assert.equal(await Promise.all(results), [code, code, code]);
  rig.threads.endEnding();
  await killed;
  const { cancelled, active, queueLength, waiting } = rig.pool.counters;
  assert.equal([cancelled, active, queueLength, waiting, rig.pool.state], [3, 0, 0, 0, 'shut-down']);
});

holes('after shutdown nothing runs in the calling thread', async () => {
  const rig = new PoolRig({ fallback: 'caller-runs' });
  rig.module['a'] = () => assert.unreachable();
  await rig.pool.shutdown();
  assert.is(await codeOf(rig.tasks.a()), 'ERR_POOL_SHUT_DOWN');
  assert.throws(
    () => rig.pool.post(rig.tasks.a),
    (error: { code: string }) => error.code === 'ERR_POOL_SHUT_DOWN',
  );
});

holes('the growth order is: idle thread, new thread, queue, fallback', () => {
  const rig = new PoolRig({ maxThreads: 2, maxQueue: 1 });
  assert.is(rig.pool.post(rig.tasks.a), 'started');
  rig.up().finish('a');
  assert.is(rig.pool.post(rig.tasks.a), 'started');
  assert.is(rig.pool.counters.threads, 1, 'the idle thread took it');
  assert.is(rig.pool.post(rig.tasks.b), 'started');
  assert.is(rig.pool.counters.threads, 2);
  assert.is(rig.pool.post(rig.tasks.c), 'queued');
  assert.throws(
    () => rig.pool.post(rig.tasks.d),
    (error: { code: string }) => error.code === 'ERR_POOL_FULL',
  );
});

holes(
  'all idle threads time out together: those above the minimum end, and a task of that moment runs',
  async () => {
    const rig = new PoolRig({ minThreads: 1, maxThreads: 4, idleMs: 10 });
    const first = [rig.tasks.a(), rig.tasks.b(), rig.tasks.c(), rig.tasks.d()];
    rig.up();
    for (const name of ['a', 'b', 'c', 'd']) rig.finish(name);
    await Promise.all(first);
    rig.advance(10);
    assert.is(rig.pool.counters.threads, 1);
    const result = rig.tasks.a();
    rig.threads.endEnding();
    rig.finish('a');
    assert.is(await result, 'a');
  },
);

holes('an idle time of a fraction of a millisecond is not rounded down to none', () => {
  const rig = new PoolRig({ idleMs: 0.75 });
  rig.pool.post(rig.tasks.a);
  rig.up().finish('a');
  rig.advance(0.5);
  assert.is(rig.pool.counters.idleThreads, 1);
  rig.advance(0.5);
  assert.is(rig.pool.counters.idleThreads, 0);
});

holes('trySubmit starts or queues a task, or does nothing, without a look before', () => {
  const rig = new PoolRig({ maxThreads: 1, maxQueue: 1, fallback: 'discard' });
  assert.ok(rig.pool.trySubmit(rig.tasks.a));
  assert.ok(rig.pool.trySubmit(rig.tasks.b));
  assert.is(rig.pool.trySubmit(rig.tasks.c), undefined);
  assert.is(rig.pool.counters.rejected, 0, 'and no fallback is used');
});

holes(
  'a task that would wait for its own pool, while every thread does, is refused with the path',
  async () => {
    const rig = new PoolRig({ maxThreads: 2 });
    const request = (id: number, name: string) => ({
      id,
      target: { module: 'file:///rig.js', export: name },
      args: [],
      options: {},
      hasSignal: false,
      wantsProgress: false,
    });
    const results = [rig.tasks.a(), rig.tasks.b()];
    rig.up();
    rig.threads.submitFrom('a', request(1, 'c'));
    await turns();
    assert.equal(rig.threads.answers, [], 'b can still end, so this one waits');
    rig.threads.submitFrom('b', request(2, 'd'));
    await turns();
    const { id, error } = rig.threads.answers[0] ?? {};
    assert.equal([id, Reflect.get(error ?? {}, 'code')], [2, 'ERR_POOL_CYCLE']);
    assert.equal(Reflect.get(error ?? {}, 'path'), ['b', 'd']);
    rig.finish('b');
    rig.finish('c');
    rig.finish('a');
    assert.equal(await Promise.all(results), ['a', 'b']);
  },
);

holes('a thread that starts and lost its task does not hold up a shutdown', async () => {
  const rig = new PoolRig({ maxThreads: 1 });
  const controller = new AbortController();
  const result = codeOf(rig.tasks.with({ signal: controller.signal }).a());
  controller.abort();
  assert.is(await result, 'ERR_TASK_CANCELLED');
  const ended = rig.pool.shutdown();
  rig.threads.endEnding();
  assert.equal([await ended, rig.pool.counters.threads], ['drained', 0]);
});

holes('a task that is cancelled during a shutdown leaves no thread to start in vain', async () => {
  const rig = new PoolRig({ maxThreads: 1 });
  const controller = new AbortController();
  const result = codeOf(rig.tasks.with({ signal: controller.signal }).a());
  const ended = rig.pool.shutdown();
  controller.abort();
  rig.threads.endEnding();
  assert.equal([await result, await ended], ['ERR_TASK_CANCELLED', 'drained']);
});

holes('a task that is cancelled before its thread has begun it is out, and the thread goes on', async () => {
  const rig = new PoolRig({ maxThreads: 1 });
  rig.tasks.a();
  rig.up().finish('a');
  const controller = new AbortController();
  const given = codeOf(rig.tasks.with({ signal: controller.signal }).b());
  const next = rig.tasks.c();
  assert.equal(rig.atThreads(), [['b']], 'given, and not begun');
  controller.abort();
  assert.is(await given, 'ERR_TASK_CANCELLED');
  rig.host.runCallbacks();
  rig.finish('c');
  assert.is(await next, 'c');
  const { scheduled, completed, cancelled, active } = rig.pool.counters;
  assert.equal([scheduled, completed, cancelled, active], [3, 2, 1, 0]);
});

holes.run();
