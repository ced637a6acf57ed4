// Trace contexts as data and the option `tracing`; spans are the business of @troupe/middleware.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AttemptView,
  type ClientTracing,
  defineJob,
  handle,
  type SubmitEnd,
  type SubmitView,
  type TraceContext,
  type WorkerTracing,
} from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embedded } from '../checked-processes.js';
import { anything, aString } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const tracing = suite('tracing');

const retry = { attempts: 2, baseMs: 1, capMs: 1, jitter: 0 };
const Seen = defineJob('trace.seen', { input: aString, output: anything, retry });
const Slow = defineJob('trace.slow', {
  input: aString,
  output: anything,
  retry: { attempts: 1 },
  limits: { runMs: 5 },
});

function traceOf(number: number, tracestate?: string): TraceContext {
  const traceparent = `00-${String(number).padStart(32, 'a')}-${'b'.repeat(16)}-01`;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

/** Gives the job of call n the trace n, and the attempt n the trace 100 + n. */
class Recorder {
  readonly submits: SubmitView[] = [];
  readonly ends: SubmitEnd[] = [];
  readonly attempts: AttemptView[] = [];
  readonly outcomes: string[] = [];
  calls = 0;

  readonly client: ClientTracing = {
    submit: (view) => {
      this.submits.push(view);
      return {
        trace: traceOf(this.submits.length),
        ended: (end) => void this.ends.push(end),
      };
    },
  };

  readonly worker: WorkerTracing = {
    attempt: (view) => {
      this.attempts.push(view);
      return {
        trace: traceOf(100 + this.attempts.length),
        run: (call) => {
          this.calls += 1;
          return call();
        },
        ended: ({ outcome }) => void this.outcomes.push(outcome),
      };
    },
  };
}

tracing('the context given with a call is that of its handler, however it was submitted', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  app.worker({ handlers: [handle(Seen, (_input, { trace }) => trace ?? null)] });
  const client = app.client();
  assert.is(await client.run(Seen, 'x'), null);
  assert.equal(await client.run(Seen, 'x', { trace: traceOf(1, 'v=1') }), traceOf(1, 'v=1'));
  const all = await client.submitAll(Seen, ['a', 'b'], { trace: traceOf(2) });
  for (const one of all) assert.equal(await one.result(), traceOf(2));
  const file = join(folder.path, 'input.json');
  await writeFile(file, '"x"');
  assert.equal(await (await client.submitFile(Seen, file, { trace: traceOf(3) })).result(), traceOf(3));
});

tracing('a trace context that is not valid is refused where it is given', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const bad = [{ traceparent: 'x' }, { ...traceOf(1), tracestate: '' }, { ...traceOf(1), more: 1 }, 'x'];
  for (const trace of bad)
    assert.match(
      await client.submit(Seen, 'x', { trace: trace as TraceContext }).then(String, String),
      /submit\.trace.*traceparent/,
    );
});

tracing('tracing of a client has the beginning and the end of every call', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  app.worker({
    handlers: [
      handle(Seen, (input, { trace }) => {
        if (input === 'fail') throw new Error('no');
        return trace ?? null;
      }),
    ],
  });
  const recorder = new Recorder();
  const client = app.client({ tracing: recorder.client });
  assert.equal(await client.run(Seen, 'x'), traceOf(1));
  assert.equal(await (await client.submit(Seen, 'x', { trace: traceOf(9) })).result(), traceOf(2));
  await client.submitAll(Seen, ['a', 'b']);
  await client.run(Seen, 'fail').catch(() => undefined);
  await client.submitAll(Seen, [1 as unknown as string]).catch(() => undefined);
  const view = { exec: 'trace.seen', jobs: 1, trace: undefined };
  assert.equal(recorder.submits, [
    { ...view, call: 'run' },
    { ...view, call: 'submit', trace: traceOf(9) },
    { ...view, call: 'submit', jobs: 2 },
    { ...view, call: 'run' },
    { ...view, call: 'submit' },
  ]);
  assert.equal(
    recorder.ends.map(({ jobs, error }) => [jobs, error?.name]),
    [
      [[1], undefined],
      [[2], undefined],
      [[3, 4], undefined],
      [[5], 'JobFailedError'],
      [[], 'JobSchemaError'],
    ],
  );
});

tracing('tracing of a worker has every attempt once, and its context is that of the handler', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const recorder = new Recorder();
  app.worker({
    tracing: recorder.worker,
    handlers: [
      handle(Seen, async (_input, { attempt, trace }) => {
        if (attempt === 1) throw new Error('again');
        return trace ?? null;
      }),
      handle(Slow, () => new Promise((resolve) => setTimeout(resolve, 50))),
    ],
  });
  const client = app.client({ name: 'ann' });
  const handled = await client.submit(Seen, 'x', { trace: traceOf(7) });
  assert.equal(await handled.result(), traceOf(102));
  const view = { jobId: handled.id, job: 1, exec: 'trace.seen', client: 'ann', trace: traceOf(7) };
  assert.equal(recorder.attempts, [
    { ...view, attempt: 1 },
    { ...view, attempt: 2 },
  ]);
  await client.run(Slow, 'x').catch(() => undefined);
  assert.equal(recorder.outcomes, ['failed', 'ok', 'timed-out']);
  assert.is(recorder.calls, 3);
});

tracing('a handler on a thread has the context of its attempt', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const recorder = new Recorder();
  const worker = app.worker({
    tracing: recorder.worker,
    handlers: new URL('./tracing-handlers.js', import.meta.url),
    threads: 1,
  });
  await worker.ready();
  assert.equal(await app.client().run(Seen, 'x', { trace: traceOf(7) }), traceOf(101));
  assert.equal(recorder.outcomes, ['ok']);
});

tracing('a trace context survives an abandoned leader', async () => {
  await using folder = await tempFolder();
  const first = await embedded({ dir: folder.path });
  const { id } = await first.client().submit(Seen, 'x', { trace: traceOf(5, 'v=2') });
  await first.abandon();
  await using app = await embedded({ dir: folder.path });
  app.worker({ handlers: [handle(Seen, (_input, { trace }) => trace ?? null)] });
  assert.equal(await app.client().open(Seen, id).result(), traceOf(5, 'v=2'));
});

tracing.run();
