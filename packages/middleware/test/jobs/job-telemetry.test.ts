import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { createSystem } from '@troupe/core';
import { defineJob, type EmbeddedJobs, embedded, handle } from '@troupe/jobs';
import { type JobTelemetry, jobTelemetry, telemetry } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ancestry,
  type InMemorySdk,
  openInMemorySdk,
  type Point,
  traceOf,
} from '../telemetry/in-memory-sdk.js';

const jobs = suite('job telemetry');

const text = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof value === 'string' ? { value } : { issues: [{ message: 'not a string' }] },
  },
};
const retry = { attempts: 2, baseMs: 1, capMs: 2, jitter: 0 };
const shout = defineJob('text.shout', { input: text, output: text, retry });
const fail = defineJob('text.fail', { input: text, output: text, retry });
const wait = defineJob('text.wait', { input: text, output: text, retry });
const warm = defineJob('text.warm', { input: text, output: text, retry, useStatic: true });

interface TestLeader extends AsyncDisposable {
  readonly app: EmbeddedJobs;
}

/** A leader with telemetry, in a folder of its own. */
async function open(observed: JobTelemetry): Promise<TestLeader> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-telemetry-'));
  const app = await embedded({
    dir,
    ...observed.leader,
    wal: { snapshotEveryBytes: 4_096, ...observed.log },
  });
  observed.observeLeader(app);
  return {
    app,
    async [Symbol.asyncDispose]() {
      await app.close();
      observed[Symbol.dispose]();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function work({ app }: TestLeader): Promise<void> {
  const client = app.client();
  app.worker({
    slots: 4,
    handlers: [
      handle(shout, (input) => String(input).toUpperCase()),
      handle(fail, () => {
        throw new Error('secret text 42');
      }),
      handle(warm, { load: () => 'loaded', run: (_, { loaded }) => loaded }),
    ],
  });
  assert.is(await client.run(shout, 'a'), 'A');
  assert.is(await client.run(shout, 'b'), 'B');
  await client.run(fail, 'c').catch(() => undefined);
  const waiting = await client.submit(wait, 'no worker has a handler for this');
  const other = await client.submit(wait, 'nor for this');
  await other.cancel();
  assert.ok(waiting.id);
}

function providers({ tracerProvider, meterProvider }: InMemorySdk) {
  return { tracerProvider, meterProvider };
}

function total(points: readonly Point[] | undefined, labels: Readonly<Record<string, unknown>> = {}): number {
  return (points ?? [])
    .filter((point) => Object.entries(labels).every(([name, value]) => point.labels[name] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

jobs('every metric is exported with the right value', async () => {
  const sdk = openInMemorySdk();
  await using leader = await open(jobTelemetry(providers(sdk)));
  await work(leader);
  const points = await sdk.metrics();
  const of = (exec: string) => ({ 'messaging.destination.name': exec });
  assert.is(total(points.get('messaging.client.sent.messages'), of('text.shout')), 2);
  assert.is(total(points.get('messaging.client.sent.messages'), of('text.wait')), 2);
  assert.is(total(points.get('messaging.client.consumed.messages'), of('text.fail')), 2);
  assert.is(total(points.get('messaging.process.duration'), of('text.shout')), 2);
  assert.is(
    total(points.get('messaging.process.duration'), { ...of('text.fail'), 'error.type': 'retry' }),
    1,
  );
  assert.is(
    total(points.get('messaging.process.duration'), { ...of('text.fail'), 'error.type': 'failed' }),
    1,
  );
  assert.is(total(points.get('troupe.jobs.delivery.delay')), 4);
  assert.is(total(points.get('troupe.jobs.completion.time')), 2);
  assert.is(total(points.get('troupe.jobs.retries'), { 'troupe.jobs.cause': 'retry' }), 1);
  assert.is(total(points.get('troupe.jobs.dead'), { 'troupe.jobs.reason': 'failed' }), 1);
  assert.is(total(points.get('troupe.jobs.cancelled')), 1);
  assert.is(total(points.get('troupe.jobs.worker.changes'), { 'troupe.jobs.liveness': 'joined' }), 1);
  assert.ok(total(points.get('troupe.jobs.journal.duration')) > 0);
  assert.ok(total(points.get('troupe.jobs.journal.batch')) > 0);
  const state = (name: string) => ({ 'troupe.jobs.state': name });
  assert.is(total(points.get('troupe.jobs.queue.length'), state('queued')), 1);
  assert.is(total(points.get('troupe.jobs.queue.length'), state('dead')), 1);
  assert.is(total(points.get('troupe.jobs.slots')), 4);
  // A worker with short jobs takes up to a batch more.
  const credit = total(points.get('troupe.jobs.credit'));
  assert.ok(credit >= 4 && credit <= 4 + 64, `${credit}`);
  assert.is(total(points.get('troupe.jobs.leases')), 0);
  assert.is(total(points.get('troupe.jobs.workers'), { 'troupe.jobs.liveness': 'alive' }), 1);
  assert.ok((points.get('troupe.jobs.snapshot.age')?.[0]?.value ?? -1) >= 0);
  for (const [name, values] of points)
    assert.not.match(JSON.stringify(values.map(({ labels }) => labels)), /secret|42/, name);
});

jobs('reasons of refusals, overrun handlers, tables and the figures of the log are gauges', async () => {
  const sdk = openInMemorySdk();
  const telemetry = jobTelemetry(providers(sdk));
  const worker = { liveness: 'alive', running: 1, overrun: 3, credit: 0, slots: 4 };
  telemetry.observeLeader({
    overview: async () => ({
      counts: {},
      delayed: 0,
      liveBytes: 0,
      keys: 0,
      refusing: [{ code: 'ERR_DISK_LOW' }, { code: 'ERR_QUEUE_FULL' }],
      tables: { jobs: { used: 7, max: 10 }, keys: { used: 1, max: 5 } },
      log: { bytes: 4_096, replayMs: 1_500, cutBytes: 12, failedSnapshots: 2 },
      workers: [worker, worker],
    }),
  });
  const points = await sdk.metrics();
  assert.is(total(points.get('troupe.jobs.refusing'), { 'troupe.jobs.code': 'ERR_DISK_LOW' }), 1);
  assert.is(total(points.get('troupe.jobs.refusing')), 2);
  assert.is(total(points.get('troupe.jobs.overrun')), 6);
  assert.is(total(points.get('troupe.jobs.log.bytes')), 4_096);
  assert.is(total(points.get('troupe.jobs.log.replay')), 1.5);
  assert.is(total(points.get('troupe.jobs.log.cut_bytes')), 12);
  assert.is(total(points.get('troupe.jobs.snapshot.failed')), 2);
  assert.is(total(points.get('troupe.jobs.table.used'), { 'troupe.jobs.table': 'jobs' }), 7);
  assert.is(total(points.get('troupe.jobs.table.max'), { 'troupe.jobs.table': 'keys' }), 5);
});

jobs('instances of warm runners, attempts and jobs that wait for one are gauges by runner', async () => {
  const sdk = openInMemorySdk();
  const telemetry = jobTelemetry(providers(sdk));
  const worker = { liveness: 'alive', running: 1, credit: 0, slots: 4 };
  const llm = { runner: 'llm', loading: 1, idle: 2, held: 3, waiting: 4 };
  const ocr = { ...llm, runner: 'ocr', waiting: 0 };
  telemetry.observeLeader({
    overview: async () => ({
      counts: {},
      delayed: 0,
      liveBytes: 0,
      keys: 0,
      runnerWaits: [{ runner: 'llm', jobs: 7 }],
      workers: [{ ...worker, runners: [llm, ocr] }, { ...worker, runners: [llm] }, worker],
    }),
  });
  const points = await sdk.metrics();
  const instances = points.get('troupe.jobs.runner.instances');
  assert.is(total(instances, { 'troupe.jobs.runner': 'llm', 'troupe.jobs.stage': 'held' }), 6);
  assert.is(total(instances, { 'troupe.jobs.runner': 'ocr', 'troupe.jobs.stage': 'idle' }), 2);
  assert.is(total(points.get('troupe.jobs.runner.waiting'), { 'troupe.jobs.runner': 'llm' }), 8);
  assert.is(total(points.get('troupe.jobs.runner.waiting'), { 'troupe.jobs.runner': 'ocr' }), 0);
  assert.is(total(points.get('troupe.jobs.runner.queued'), { 'troupe.jobs.runner': 'llm' }), 7);
  assert.is(total(points.get('troupe.jobs.runner.queued'), { 'troupe.jobs.runner': 'ocr' }), 0);
});

jobs('depth and age of the deepest definitions are gauges by exec, and depth by priority', async () => {
  const sdk = openInMemorySdk();
  const telemetry = jobTelemetry(providers(sdk));
  await using leader = await open(telemetry);
  const client = leader.app.client();
  await client.submit(shout, 'x');
  await client.submit(shout, 'y', { priority: 9 });
  const points = await sdk.metrics();
  const named = { 'troupe.jobs.exec': shout.exec };
  const queued = points.get('troupe.jobs.exec.queued');
  assert.is(total(queued, { ...named, 'troupe.jobs.priority': '9' }), 1);
  assert.is(total(queued, { ...named, 'troupe.jobs.priority': '4' }), 1);
  assert.is(total(points.get('troupe.jobs.exec.depth'), { ...named, 'troupe.jobs.state': 'queued' }), 2);
  assert.is(total(points.get('troupe.jobs.exec.depth'), { ...named, 'troupe.jobs.state': 'running' }), 0);
  assert.ok(total(points.get('troupe.jobs.exec.oldest'), named) >= 0);
  assert.is(total(points.get('troupe.jobs.exec.unserved'), named), 2, 'there is no worker');
});

jobs('leases and credit are gauges, and a refused submit is counted', async () => {
  const sdk = openInMemorySdk();
  await using leader = await open(jobTelemetry(providers(sdk)));
  let finish: (value: string) => void = () => undefined;
  let started: () => void = () => undefined;
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  leader.app.worker({
    slots: 2,
    handlers: [
      handle(shout, () => {
        started();
        return new Promise((resolve) => {
          finish = resolve;
        });
      }),
    ],
  });
  const client = leader.app.client();
  const handled = await client.submit(shout, 'x', { key: 'k' });
  await running;
  const during = await sdk.metrics();
  assert.is(total(during.get('troupe.jobs.leases')), 1);
  assert.is(total(during.get('troupe.jobs.credit')), 1);
  assert.is(total(during.get('troupe.jobs.keys')), 1);
  const code = await client.submit(shout, 'y', { key: 'k' }).then(
    () => 'none',
    (error: { readonly code: string }) => error.code,
  );
  assert.is.not(code, 'none');
  finish('X');
  assert.is(await handled.result(), 'X');
  const after = await sdk.metrics();
  assert.is(total(after.get('troupe.jobs.leases')), 0);
  assert.is(total(after.get('troupe.jobs.refused')), 1);
});

jobs('the trace of a job has its submit span and a linked span per attempt', async () => {
  const sdk = openInMemorySdk();
  {
    await using leader = await open(jobTelemetry(providers(sdk)));
    await work(leader);
  }
  const spans = sdk.spans();
  const attempts = spans.filter(({ name }) => name === 'deliver text.fail');
  assert.equal(
    attempts.map(({ attributes }) => [attributes['troupe.job.attempt'], attributes['troupe.job.outcome']]),
    [
      [1, 'retry'],
      [2, 'failed'],
    ],
  );
  const submit = sdk.span('send text.fail');
  for (const attempt of attempts) {
    assert.is(traceOf(attempt), traceOf(submit));
    assert.equal(ancestry(attempt, spans), ['deliver text.fail', 'send text.fail']);
    assert.is(attempt.links[0]?.context.spanId, submit.spanContext().spanId);
    assert.is(attempt.status.code, 2);
    assert.is(attempt.attributes['messaging.message.id'], submit.attributes['messaging.message.id']);
  }
  const done = spans.filter(({ name }) => name === 'deliver text.shout');
  assert.equal(
    done.map(({ attributes, status }) => [attributes['troupe.job.outcome'], status.code]),
    [
      ['completed', 0],
      ['completed', 0],
    ],
  );
  assert.is(new Set(spans.map(traceOf)).size, 5);
});

jobs('dispose ends the span of a running attempt', () => {
  const sdk = openInMemorySdk();
  const observed = jobTelemetry(providers(sdk));
  observed.leader.observe?.({ kind: 'assigned', job: 7, exec: 'old', attempt: 3, waitedMs: 5 });
  observed[Symbol.dispose]();
  assert.is(sdk.span('deliver old').attributes['troupe.job.outcome'], 'unknown');
});

jobs('tracked attempts and labels are bounded', async () => {
  const sdk = openInMemorySdk();
  const observed = jobTelemetry({ ...providers(sdk), execsMax: 3, trackedJobsMax: 2 });
  for (let job = 1; job <= 200; job += 1) {
    observed.leader.observe?.({ kind: 'accepted', job, exec: `exec-${job}` });
    observed.leader.observe?.({ kind: 'assigned', job, exec: `exec-${job}`, attempt: 1, waitedMs: 0 });
    observed.leader.observe?.({
      kind: 'dead',
      job: job + 1_000,
      exec: 'exec-1',
      reason: `because of ${job}`,
    });
    observed.leader.observe?.({ kind: 'refused', code: `ERR_${job}` });
    observed.leader.observe?.({ kind: 'unknown kind' });
  }
  const points = await sdk.metrics();
  assert.is(points.get('messaging.client.sent.messages')?.length, 4);
  assert.is(total(points.get('messaging.client.sent.messages')), 200);
  assert.is(points.get('troupe.jobs.dead')?.length, 1);
  assert.ok((points.get('troupe.jobs.refused')?.length ?? 0) <= 51);
  assert.is(sdk.spans().filter(({ name }) => name.startsWith('deliver')).length, 0);
  observed[Symbol.dispose]();
  assert.is(sdk.spans().filter(({ name }) => name.startsWith('deliver')).length, 2);
});

jobs('with a long queue every attempt is still timed, and has at least a trace of its own', async () => {
  const sdk = openInMemorySdk();
  const observed = jobTelemetry({ ...providers(sdk), trackedJobsMax: 2 });
  for (let job = 1; job <= 50; job += 1) observed.leader.observe?.({ kind: 'accepted', job, exec: 'deep' });
  for (let job = 1; job <= 50; job += 1) {
    observed.leader.observe?.({ kind: 'assigned', job, exec: 'deep', attempt: 1, waitedMs: 0 });
    observed.leader.observe?.({ kind: 'completed', job, exec: 'deep', sinceSubmitMs: 1 });
  }
  const points = await sdk.metrics();
  assert.is(total(points.get('messaging.process.duration')), 50);
  const attempts = sdk.spans().filter(({ name }) => name === 'deliver deep');
  assert.is(attempts.length, 50);
  assert.is(attempts.filter(({ links }) => links.length === 1).length, 2);
});

jobs('without an SDK the hooks are empty, or `required: true` throws', () => {
  const observed = jobTelemetry();
  assert.equal([observed.client, observed.leader, observed.worker, observed.log], [{}, {}, {}, {}]);
  assert.throws(() => jobTelemetry({ required: true }), /ERR_NO_TELEMETRY_SDK|no SDK/);
  assert.throws(() => jobTelemetry({ execsMax: 0 }), /execsMax/);
  assert.throws(() => jobTelemetry({ exeksMax: 1 } as never), /exeksMax/);
});

jobs(
  'Prometheus scrapes metrics of jobs and messages together, and every job metric that the guide lists',
  async () => {
    const reader = new PrometheusExporter({ preventServerStart: true });
    const meterProvider = new MeterProvider({ readers: [reader] });
    const system = createSystem({ middleware: [telemetry({ meterProvider })] });
    let scraped = '';
    {
      await using leader = await open(jobTelemetry({ meterProvider }));
      await work(leader);
      for (let i = 0; i < 100; i += 1)
        await leader.app.client({ name: 'bulk' }).submit(wait, 'x'.repeat(1_000));
      const { resourceMetrics, errors } = await reader.collect();
      assert.equal(errors, []);
      scraped = new PrometheusSerializer().serialize(resourceMetrics);
    }
    await system.shutdown();
    const types = scraped.split('\n').filter((line) => line.startsWith('# TYPE '));
    assert.is(new Set(types).size, types.length, 'a metric name has two types');
    const page = await readFile(new URL('../../../../docs/guides/observability.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `(troupe_jobs_[a-z_]+)` \|/gm)].map((match) => match[1] ?? '');
    assert.ok(listed.length >= 15, `only ${listed.length} are listed`);
    for (const name of listed) assert.ok(scraped.includes(`# TYPE ${name} `), `${name} was not scraped`);
  },
);

jobs.run();
