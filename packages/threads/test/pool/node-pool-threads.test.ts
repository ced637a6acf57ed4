import { type PoolEvent, type PoolOptions, ThreadPoolExecutor } from '@troupe/threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const threads = suite('ThreadPoolExecutor on threads');

type Module = typeof import('./pool-tasks.js');

const module = new URL('./pool-tasks.js', import.meta.url);

function open(options: PoolOptions = {}) {
  const pool = new ThreadPoolExecutor({ name: 'test', maxThreads: 1, onEvent: () => undefined, ...options });
  return { pool, tasks: pool.tasks<Module>(module), [Symbol.asyncDispose]: () => pool.kill() };
}

function codeOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(promise).then(
    (value) => ({ value }),
    (error: { code?: string }) => error.code ?? error,
  );
}

async function changed(state: Int32Array): Promise<void> {
  while (Atomics.load(state, 0) === 0) await new Promise(setImmediate);
}

/** One thread for the tests that do not end it. An idle pool does not keep the process alive. */
const shared = open();

const words = (count: number): Int32Array => new Int32Array(new SharedArrayBuffer(4 * count));

threads('results of every kind arrive as they were', async () => {
  const rig = shared;
  const values = [undefined, null, true, false, 0, -0, 1.5, Number.NaN, 7n, '', 'text', [1], { a: { b: 1 } }];
  values.push(new Map([[1, new Set([2])]]) as never, new Date(5) as never, new Uint8Array([1, 2]) as never);
  const results = await Promise.all(values.map((value) => rig.tasks.echo(value)));
  assert.equal(results, values);
  assert.ok(Object.is(results[5], -0));
});

threads('arguments and results are moved on request', async () => {
  const rig = shared;
  const buffer = new ArrayBuffer(64);
  assert.is(await rig.tasks.with({ transfer: [buffer] }).lengthOf(buffer), 64);
  assert.is(buffer.byteLength, 0);
  assert.equal(await rig.tasks.makeBytes(3), new Uint8Array([7, 7, 7]));
});

threads('shared memory is shared', async () => {
  const rig = shared;
  const counter = words(1);
  await Promise.all([rig.tasks.increment(counter), rig.tasks.increment(counter)]);
  assert.is(counter[0], 2);
});

threads('the error of a task has the name, text, code, fields and cause of the original', async () => {
  const rig = shared;
  const error = await rig.tasks.fail('too far').catch((reason: unknown) => reason as Error);
  const cause = (error as Error).cause as RangeError & { code: string; at: unknown };
  assert.equal(
    [Reflect.get(error as Error, 'code'), (error as Error).message],
    ['ERR_TASK_FAILED', 'fail: too far'],
  );
  assert.equal([cause.name, cause.code, cause.at], ['RangeError', 'E_TEST', { line: 3 }]);
  assert.match(cause.stack ?? '', /pool-tasks/);
  assert.is((cause.cause as Error).message, 'below');
  const thrown = await rig.tasks.throwText().catch((reason: unknown) => reason as Error);
  assert.is(Reflect.get((thrown as Error).cause as object, 'code'), 'ERR_THROWN_VALUE');
});

threads('a value that cannot be cloned fails its own task only, with the path', async () => {
  const rig = shared;
  const bad = { rows: [{}, { run: () => 1 }] };
  const results = [rig.tasks.echo(1), rig.tasks.echo(bad as never), rig.tasks.echo(2)];
  const errors = await Promise.allSettled(results);
  assert.equal(
    errors.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.path)),
    [1, 'args[0].rows[1].run', 2],
  );
  const result = await rig.tasks.returnFunction().catch((reason: unknown) => reason as Error);
  assert.is(Reflect.get(result as object, 'code'), 'ERR_NOT_CLONEABLE');
  assert.match((result as Error).message, /the result\.rows\[0\]\.format/);
});

threads('an export that is no function, and a module that is not there, are typed errors', async () => {
  const rig = shared;
  const notAFunction = Reflect.get(rig.tasks, 'notAFunction') as () => Promise<unknown>;
  assert.is(await codeOf(notAFunction()), 'ERR_TASK_UNKNOWN');
  const elsewhere = rig.pool.tasks<{ f(): void }>(new URL('./no-such-module.js', import.meta.url));
  const error = await elsewhere.f().catch((reason: unknown) => reason as Error);
  assert.match((error as Error).message, /^f of .*cannot be imported/);
});

threads('progress arrives in order and before the end', async () => {
  const rig = shared;
  const seen: unknown[] = [];
  const result = await rig.tasks.with({ onProgress: (value) => seen.push(value) }).steps(3);
  assert.equal([seen, result], [[{ step: 1 }, { step: 2 }, { step: 3 }], 'done']);
});

threads('currentTask names task and thread across awaits, and throws outside', async () => {
  await using rig = open({ name: 'img' });
  const about = await rig.tasks.about();
  assert.equal([about.name, about.thread], ['about', 'img-worker-1']);
  assert.ok(about.threadId > 0);
  const { currentTask } = await import('@troupe/threads');
  assert.throws(currentTask, (error: { code: string }) => error.code === 'ERR_NO_TASK');
});

threads('a task that awaits gets its signal, and its thread lives on', async () => {
  await using rig = open({ graceMs: 5_000 });
  const abort = new AbortController();
  const state = words(1);
  const result = codeOf(rig.tasks.with({ signal: abort.signal }).untilAborted(state));
  await changed(state);
  abort.abort();
  assert.is(await result, 'ERR_TASK_CANCELLED');
  assert.is(await rig.tasks.echo(2), 2);
  assert.is(rig.pool.counters.largest, 1);
});

threads('a loop that never awaits sees its cancellation in shared memory', async () => {
  await using rig = open({ graceMs: 60_000 });
  const state = words(1);
  const abort = new AbortController();
  const result = codeOf(rig.tasks.with({ signal: abort.signal }).loopUntilCancelled(state));
  await changed(state);
  abort.abort();
  assert.is(await result, 'ERR_TASK_CANCELLED');
  assert.is(await rig.tasks.echo(1), 1);
  assert.is(state[0], 2);
});

threads('a time limit ends a stuck thread, and the tasks behind it run on the next', async () => {
  await using rig = open({ graceMs: 10 });
  const stuck = codeOf(rig.tasks.with({ withinMs: 100 }).loopForEver());
  const behind = [rig.tasks.echo(1), rig.tasks.echo(2)];
  assert.is(await stuck, 'ERR_TASK_TIMEOUT');
  assert.equal(await Promise.all(behind), [1, 2]);
  assert.equal([rig.pool.counters.failed, rig.pool.counters.completed], [1, 2]);
});

threads(
  'process.exit, an error outside of the task and a full heap end one task and one thread each',
  async () => {
    const events: PoolEvent[] = [];
    const resourceLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 };
    await using rig = open({ resourceLimits, onEvent: (event) => void events.push(event) });
    const results = [
      rig.tasks.exit(3),
      rig.tasks.throwOutside(),
      rig.tasks.allocate(),
      rig.tasks.echo('last'),
    ];
    assert.equal(await Promise.all(results.map(codeOf)), [
      'ERR_THREAD_ENDED',
      'ERR_THREAD_ENDED',
      'ERR_THREAD_MEMORY',
      { value: 'last' },
    ]);
    assert.is(events.filter((event) => event.kind === 'thread-ended' && event.error !== undefined).length, 3);
  },
);

threads('items of an AsyncIterable arrive in order, and the thread is at most a window ahead', async () => {
  const rig = shared;
  const made = words(2);
  const items: number[] = [];
  for await (const item of rig.tasks.count(200, made)) {
    items.push(item);
    // Time for the thread to run ahead, if it could.
    if (items.length === 1) for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    assert.ok(made[0]! <= items.length + 64);
  }
  assert.equal([items.length, items.at(-1)], [200, 200]);
});

threads('leaving a loop over items closes the generator in the thread', async () => {
  await using rig = open({ graceMs: 5_000 });
  const made = words(2);
  for await (const item of rig.tasks.count(10_000, made)) if (item === 3) break;
  assert.is(await rig.tasks.echo(1), 1);
  assert.is(made[1], 1);
  assert.ok(made[0]! < 10_000);
});

threads('an error after some items comes after these items', async () => {
  const rig = shared;
  const items: string[] = [];
  let code: unknown;
  try {
    for await (const item of rig.tasks.countThenFail(2)) items.push(item);
  } catch (error) {
    code = Reflect.get(error as object, 'code');
  }
  assert.equal([items, code], [['countThenFail', 'countThenFail'], 'ERR_TASK_FAILED']);
});

threads('timers of an ended task go on in an idle thread', async () => {
  const rig = shared;
  const state = words(1);
  await rig.tasks.writeLater(state, 20);
  await changed(state);
  assert.is(state[0], 1);
});

threads('a task may submit tasks to its own pool, up to the last free thread', async () => {
  await using rig = open({ maxThreads: 3 });
  assert.is(await rig.tasks.sumBelow(2), 3);
  const error = await rig.tasks.sumBelow(3).catch((reason: unknown) => reason as Error);
  const text = String((error as Error).message);
  assert.match(text, /sumBelow → sumBelow → sumBelow → sumBelow was refused/);
});

threads('the signal of a subtask reaches it, and its progress comes back', async () => {
  await using rig = open({ maxThreads: 2, graceMs: 60_000 });
  const state = words(1);
  assert.is(await rig.tasks.cancelSubtask(state), 'ERR_TASK_CANCELLED');
  assert.equal(await rig.tasks.progressOfSubtask(), [
    { step: 1 },
    'progressOfSubtask',
    { step: 2 },
    'progressOfSubtask',
  ]);
  assert.is(state[0], 2, 'the loop of the subtask has seen it');
});

threads('a subtask that cannot be passed on is a typed error, and holds no thread', async () => {
  await using rig = open({ maxThreads: 2, graceMs: 60_000 });
  const made = words(2);
  const codes = ['ERR_NOT_CLONEABLE', 'ERR_NOT_CLONEABLE', 'ERR_TASK_CANCELLED'];
  assert.equal(await rig.tasks.refusedSubtasks(made), codes);
  assert.is(await rig.pool.shutdown(), 'drained');
  assert.is(made[1], 1, 'the generator is closed');
});

threads('caller-runs imports the module here, and runs the task as a thread would', async () => {
  await using rig = open({ maxThreads: 1, synchronous: true, fallback: 'caller-runs' });
  const state = words(1);
  const abort = new AbortController();
  const busy = codeOf(rig.tasks.with({ signal: abort.signal }).untilAborted(state));
  const { name, thread, threadId } = await rig.tasks.about();
  assert.equal([name, thread, threadId], ['about', 'caller', 0]);
  const items: number[] = [];
  for await (const item of rig.tasks.count(3)) items.push(item);
  assert.equal([items, rig.pool.counters.ranHere], [[1, 2, 3], 2]);
  abort.abort();
  assert.is(await busy, 'ERR_TASK_CANCELLED');
});

threads('thousands of tasks on several threads all end once, in any mix', async () => {
  await using rig = open({ maxThreads: 3 });
  const { tasks } = rig;
  const results = Array.from({ length: 3_000 }, (_, at) => {
    if (at % 3 === 0) return tasks.echo(at);
    if (at % 7 === 0) return codeOf(tasks.fail('x'));
    return at % 11 === 0 ? tasks.echoLater({ at }, 0) : tasks.echo(`${at}`);
  });
  const values = await Promise.all(results);
  assert.equal([values[3], values[7], values[11], values[4]], [3, 'ERR_TASK_FAILED', { at: 11 }, '4']);
  const { scheduled, completed, failed } = rig.pool.counters;
  assert.equal([scheduled, completed + failed], [3_000, 3_000]);
});

threads.run();
