import {
  defineJob,
  type EmbeddedJobs,
  type HandledJob,
  handle,
  JobDefinitionError,
  type JobFailedError,
  NonRetryableError,
  type RunnerUse,
} from '@troupe/jobs';
import { testJobs } from '@troupe/jobs/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, embedded, startLeader, startWorker } from '../../checked-processes.js';
import { aNumber, aString } from '../../plain-schema.js';
import { tempFolder } from '../../temp-folder.js';

const warm = suite('warm runners');

const retry = { attempts: 3, baseMs: 1, capMs: 5, jitter: 0 };
const once = { ...retry, attempts: 1 };
const complete = defineJob('llm.complete', {
  input: aString,
  output: aString,
  chunk: aString,
  useStatic: true,
  retry: once,
});
const embed = defineJob('llm.embed', { input: aString, output: aNumber, useStatic: true, retry });
const other = defineJob('some.other', { input: aString, output: aString, retry });

/** Loads models with numbers, and counts. */
class Models {
  readonly log: string[] = [];
  loads = 0;
  private readonly users = new Map<number, number>();
  mostUsers = 0;

  load(): number {
    this.loads += 1;
    this.log.push(`load ${this.loads}`);
    return this.loads;
  }

  unload(model: number): void {
    this.log.push(`unload ${model}`);
  }

  enter(model: number): void {
    this.users.set(model, (this.users.get(model) ?? 0) + 1);
    this.mostUsers = Math.max(this.mostUsers, ...this.users.values());
  }

  leave(model: number): void {
    this.users.set(model, (this.users.get(model) ?? 0) - 1);
  }
}

/** A promise that the test settles. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 20_000; !(await holds()); ) {
    assert.ok(performance.now() < end, 'it never came to hold');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function errorOf(promise: Promise<unknown>): Promise<JobFailedError> {
  try {
    await promise;
  } catch (error) {
    return error as JobFailedError;
  }
  throw new Error('no error');
}

interface App extends AsyncDisposable {
  readonly app: EmbeddedJobs;
  readonly client: ReturnType<EmbeddedJobs['client']>;
  use(worker?: number): Promise<RunnerUse | undefined>;
}

async function start(...workers: (readonly HandledJob[])[]): Promise<App> {
  const folder = await tempFolder();
  const app = await embedded({ dir: folder.path });
  for (const handlers of workers) app.worker({ handlers });
  return {
    app,
    client: app.client(),
    use: async (worker = 0) => (await app.overview()).workers[worker]?.runners?.[0],
    async [Symbol.asyncDispose]() {
      await app.close({ withinMs: 0 });
      await folder[Symbol.asyncDispose]();
    },
  };
}

warm('a model is loaded once per instance, and each instance has one attempt at a time', async () => {
  const models = new Models();
  const handler = handle(embed, {
    pool: { size: 2 },
    load: () => models.load(),
    async run(text, { loaded }) {
      models.enter(loaded);
      await new Promise((resolve) => setImmediate(resolve));
      models.leave(loaded);
      return text.length;
    },
  });
  await using world = await start([handler]);
  const jobs = Array.from({ length: 40 }, (_, i) => world.client.run(embed, 'x'.repeat(i)));
  assert.equal(
    await Promise.all(jobs),
    jobs.map((_, i) => i),
  );
  assert.equal([models.loads, models.mostUsers], [2, 1]);
  const use = await world.use();
  assert.equal([use?.size, use?.idle, use?.held, use?.waiting, use?.loads, use?.runs], [2, 2, 0, 0, 2, 40]);
});

warm('a pool is loaded at first use, or before it where it is warm', async () => {
  for (const isWarm of [false, true]) {
    const models = new Models();
    const setup = { pool: { size: 3, warm: isWarm }, load: () => models.load(), run: () => 1 };
    await using jobs = await testJobs({ handlers: [handle(embed, setup)] });
    await jobs.advance(100);
    assert.is(models.loads, isWarm ? 3 : 0);
    await jobs.run(embed, 'x');
    assert.is(models.loads, isWarm ? 3 : 1);
  }
});

warm('an instance is held until the stream ends, also after its job was cancelled', async () => {
  const models = new Models();
  const mayEnd = gate();
  let isOver = false;
  const handler = handle(complete, {
    load: () => models.load(),
    async *run(text, { loaded }) {
      models.enter(loaded);
      yield text;
      // It does not react to its signal.
      if (text === 'first') await mayEnd.opened;
      models.leave(loaded);
      if (text === 'first') isOver = true;
      else assert.ok(isOver, 'the instance was given to another while its stream went on');
    },
  });
  await using world = await start([handler]);
  const first = await world.client.stream(complete, 'first');
  const second = await world.client.submit(complete, 'second', { streaming: true });
  await first.cancel();
  await until(async () => (await world.use())?.held === 1);
  // The leader has no credit for it, so the job waits there, and other workers could take it.
  const { state, waitsForRunner } = await second.inspect();
  assert.equal([state, waitsForRunner], ['queued', 'llm.complete']);
  const waits = async (): Promise<unknown> => (await world.client.overview()).runnerWaits;
  assert.equal(await waits(), [{ runner: 'llm.complete', jobs: 1 }]);
  const { reasons } = await second.explain();
  assert.equal(
    reasons.map((reason) => reason.kind === 'no-credit' && [reason.eligible, reason.runner]),
    [[1, 'llm.complete']],
  );
  mayEnd.open();
  assert.is(await second.result(), 'second');
  assert.equal(await waits(), []);
  assert.is((await second.inspect()).waitsForRunner, undefined);
  assert.equal([models.loads, models.mostUsers], [1, 1]);
});

warm('a job goes to the worker whose runner is free', async () => {
  const mayEnd = gate();
  const models = [new Models(), new Models()];
  const workers = models.map((model) => [
    handle(embed, {
      load: () => model.load(),
      async run(text) {
        if (text === 'long') await mayEnd.opened;
        return text.length;
      },
    }),
  ]);
  await using world = await start(...workers);
  const long = world.client.run(embed, 'long');
  await until(async () => (await world.use(0))?.held === 1 || (await world.use(1))?.held === 1);
  // One after the other, so that a worker is always free.
  for (let i = 0; i < 10; i += 1) assert.is(await world.client.run(embed, 'short'), 5);
  mayEnd.open();
  await long;
  assert.equal(
    models.map(({ loads }) => loads),
    [1, 1],
  );
});

warm('an attempt that waits for a load holds up no other job, and is visible', async () => {
  const mayLoad = gate();
  const handler = handle(embed, {
    load: async () => {
      await mayLoad.opened;
      return 7;
    },
    run: (_, { loaded }) => loaded,
  });
  await using world = await start([handler, handle(other, (text) => text)]);
  const waiting = world.client.run(embed, 'x');
  await until(async () => (await world.use())?.waiting === 1);
  assert.is((await world.use())?.loading, 1);
  for (let i = 0; i < 20; i += 1) assert.is(await world.client.run(other, 'go'), 'go');
  mayLoad.open();
  assert.is(await waiting, 7);
  assert.equal([(await world.use())?.waiting, (await world.use())?.idle], [0, 1]);
});

warm('several definitions share a runner by name', async () => {
  const models = new Models();
  const handlers = [
    handle(complete, {
      runner: 'llm',
      pool: { size: 1 },
      load: () => models.load(),
      unload: (model) => models.unload(model),
      async *run(text, { loaded }) {
        models.enter(loaded);
        yield `${text} of ${loaded}`;
        models.leave(loaded);
      },
    }),
    handle(embed, {
      runner: 'llm',
      run: (_, { loaded }: { readonly loaded: number }) => {
        models.enter(loaded);
        models.leave(loaded);
        return loaded;
      },
    }),
  ];
  await using world = await start(handlers);
  const all = await Promise.all([
    world.client.run(complete, 'a'),
    world.client.run(embed, 'b'),
    world.client.run(complete, 'c'),
    world.client.run(embed, 'd'),
  ]);
  assert.equal(all, ['a of 1', 1, 'c of 1', 1]);
  assert.equal([models.loads, models.mostUsers, (await world.use())?.runner], [1, 1, 'llm']);
});

warm('of handlers that share a runner exactly one has load', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const load = (): number => 1;
  const sharing = (one: object, two: object): (() => unknown) => {
    const handlers = [
      handle(embed, { runner: 'llm', run: () => 1, ...one }),
      handle(complete, { runner: 'llm', run: (text: string) => text, ...two }),
    ];
    return () => app.worker({ handlers });
  };
  for (const [start, owners] of [
    [sharing({}, {}), 0],
    [sharing({ load }, { load }), 2],
  ] as const) {
    assert.throws(
      start,
      (error: unknown) =>
        error instanceof JobDefinitionError &&
        error.message.includes(`exactly one of its handlers has load, not ${owners}`),
    );
  }
  sharing({ load }, {})();
});

warm('options of warm runners without an effect are refused', () => {
  const plain = defineJob('some.plain', { input: aString, output: aNumber });
  const cases: readonly [() => unknown, RegExp][] = [
    [() => handle(plain, { run: () => 1, pool: { size: 1 } }), /useStatic: true/],
    [() => handle(plain, { run: () => 1, runner: 'llm' }), /useStatic: true/],
    [() => handle(plain, { run: () => 1, load: () => 1, healthy: () => true }), /useStatic: true/],
    [() => handle(embed, { run: () => 1, unload: () => undefined }), /unload and healthy are for load/],
    [() => handle(embed, { run: () => 1, runner: 'llm', pool: { size: 2 } }), /stands where its load does/],
    [() => handle(embed, { run: () => 1, pool: { size: 0 } }), /pool\.size/],
    [() => handle(embed, { run: () => 1, runner: 'a b' }), /runner/],
  ];
  for (const [make, expected] of cases)
    assert.throws(
      make,
      (error: unknown) => error instanceof JobDefinitionError && expected.test(error.message),
    );
});

warm('a load that fails is ERR_RUNNER_LOAD with its cause; the job is tried again', async () => {
  let loads = 0;
  const handler = handle(embed, {
    load: () => {
      loads += 1;
      if (loads < 3) throw new RangeError('no memory');
      return loads;
    },
    run: (_, { loaded }) => loaded,
  });
  await using jobs = await testJobs({ handlers: [handler] });
  assert.is(await jobs.run(embed, 'x'), 3);
  const failing = handle(embed, {
    load: () => Promise.reject(new NonRetryableError('no disk')),
    run: () => 1,
  });
  await using broken = await testJobs({ handlers: [failing] });
  const job = await broken.client.submit(embed, 'x');
  const { failure } = await errorOf(job.result());
  assert.equal([failure?.code, failure?.cause?.message], ['ERR_RUNNER_LOAD', 'no disk']);
  assert.is((await job.inspect()).attempt, 1);
});

warm('an attempt waits for a runner for its run time at most: ERR_RUNNER_WAIT', async () => {
  const limited = defineJob('llm.limited', {
    input: aString,
    output: aNumber,
    useStatic: true,
    retry: once,
    limits: { runMs: 500 },
  });
  const never = handle(limited, { load: () => new Promise<number>(() => undefined), run: () => 1 });
  await using jobs = await testJobs({ handlers: [never] });
  const job = await jobs.client.submit(limited, 'x');
  const failed = errorOf(job.result());
  await jobs.advance(499);
  assert.is((await job.inspect()).state, 'running');
  await jobs.advance(2);
  assert.is((await failed).failure?.code, 'ERR_RUNNER_WAIT');
});

warm('the time of a load does not count as run time', async () => {
  const limited = defineJob('llm.limited', {
    input: aString,
    output: aNumber,
    useStatic: true,
    retry: once,
    limits: { runMs: 500 },
  });
  let delay: (ms: number) => Promise<number> = async () => 0;
  const handlers = [handle(limited, { load: () => delay(400), run: () => delay(400) })];
  await using world = await testJobs({ handlers });
  delay = (ms) =>
    new Promise((resolve) => {
      world.host.setTimer(ms, () => resolve(ms));
    });
  assert.is(await world.run(limited, 'x'), 400);
});

warm('a leader elsewhere sees the runners of a worker, and assigns by their credit', async () => {
  await using folder = await tempFolder();
  const fatal = (error: Error): void => assert.unreachable(error.message);
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  const { address } = leader;
  const mayEnd = gate();
  const handlers = [
    handle(embed, {
      pool: { size: 2, warm: true },
      load: () => 7,
      async run(_, { loaded }) {
        await mayEnd.opened;
        return loaded;
      },
    }),
  ];
  await using _worker = await startWorker({ address, name: 'w', handlers, heartbeatThread: false });
  await using client = await connectClient({ address });
  const jobs = await Promise.all([1, 2, 3].map(() => client.submit(embed, 'x')));
  const use = async (): Promise<RunnerUse | undefined> => (await client.overview()).workers[0]?.runners?.[0];
  await until(async () => (await use())?.held === 2);
  const states = await Promise.all(jobs.map(async (job) => (await job.inspect()).state));
  assert.equal(states.sort(), ['queued', 'running', 'running']);
  mayEnd.open();
  for (const job of jobs) assert.is(await job.result(), 7);
  await until(async () => (await use())?.runs === 3);
  const last = await use();
  assert.equal([last?.runner, last?.size, last?.loads, last?.recycled], ['llm.embed', 2, 2, 0]);
});

warm('a drain unloads every instance', async () => {
  const models = new Models();
  const handler = handle(embed, {
    pool: { size: 2, warm: true },
    load: () => models.load(),
    unload: async (model) => {
      await new Promise((resolve) => setImmediate(resolve));
      models.unload(model);
    },
    run: () => 1,
  });
  {
    await using world = await start([handler]);
    await world.client.run(embed, 'x');
  }
  assert.equal(models.log, ['load 1', 'load 2', 'unload 1', 'unload 2']);
});

warm('other handlers recycle the runners whose definition or handler they change', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const models = new Models();
  const handlerOf = (version: number, job = embed): HandledJob =>
    handle(job, {
      load: () => models.load(),
      unload: (model) => models.unload(model),
      run: (_, { loaded }) => version * 10 + loaded,
    });
  const kept = defineJob('llm.kept', { input: aString, output: aNumber, useStatic: true, retry });
  const same = handlerOf(0, kept);
  const worker = app.worker({ handlers: [handlerOf(1), same] });
  const client = app.client();
  assert.equal([await client.run(embed, 'x'), await client.run(kept, 'x')], [11, 2]);
  worker.replaceHandlers([handlerOf(2), same]);
  assert.equal([await client.run(embed, 'x'), await client.run(kept, 'x')], [23, 2]);
  // A job that no handler names any more is not taken; its runner is unloaded.
  worker.replaceHandlers([same]);
  const gone = await client.submit(embed, 'x');
  assert.is(await client.run(kept, 'x'), 2);
  assert.is((await gone.inspect()).state, 'queued');
  await until(() => models.log.includes('unload 3'));
  worker.replaceHandlers([handlerOf(3), same]);
  assert.is(await gone.result(), 34);
  assert.equal(models.log, ['load 1', 'load 2', 'unload 1', 'load 3', 'unload 3', 'load 4']);
  assert.throws(() => worker.replaceHandlers([{} as HandledJob]), /handlers\[0\]/);
});

warm('a pool under 1,000 jobs with failures: recycled instances, runs and loads add up', async () => {
  const models = new Models();
  let failed = 0;
  let ran = 0;
  const handler = handle(embed, {
    pool: { size: 4, runsMax: 50 },
    load: () => models.load(),
    unload: (model) => models.unload(model),
    async run(text, { loaded, attempt }) {
      models.enter(loaded);
      await new Promise((resolve) => setImmediate(resolve));
      models.leave(loaded);
      ran += 1;
      if (Number(text) % 17 === 0 && attempt === 1) {
        failed += 1;
        throw new Error('first attempt');
      }
      return Number(text);
    },
  });
  let use: RunnerUse | undefined;
  {
    await using world = await start([handler]);
    const jobs = Array.from({ length: 1_000 }, (_, i) => world.client.run(embed, `${i}`));
    assert.equal(
      await Promise.all(jobs),
      jobs.map((_, i) => i),
    );
    await until(async () => (await world.use())?.held === 0);
    use = await world.use();
  }
  assert.is(failed, 59);
  assert.equal([use?.runs, ran], [1_059, 1_059]);
  assert.is(models.mostUsers, 1);
  const { loads = 0, recycled = 0, idle = 0 } = use ?? {};
  assert.is(loads, recycled + idle);
  // Each failure recycles one, and so does every 50th run of an instance without failures.
  assert.ok(recycled >= failed, `${recycled} recycled, ${failed} failed`);
  const unloads = models.log.filter((line) => line.startsWith('unload')).length;
  assert.equal([models.loads, unloads], [loads, loads]);
});

warm.run();
