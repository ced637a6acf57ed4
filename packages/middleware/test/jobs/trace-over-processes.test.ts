// timeout: 120s
// One trace over three processes: a client, a leader and a worker, each with an exporter of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PrintedSpan } from './traced-process.js';

const processes = suite('trace over processes');

type Event = Readonly<Record<string, unknown>> & { readonly kind: string };

/** A role in a process of its own. Killed at the end of the block if it is still alive. */
class TracedProcess implements AsyncDisposable {
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;
  private readonly printed: Promise<void>;
  private readonly events: Event[] = [];
  private readonly waiting = new Set<() => void>();

  constructor(...args: readonly string[]) {
    const program = fileURLToPath(new URL('./traced-process.js', import.meta.url));
    this.child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.exited = once(this.child, 'exit').then(() => this.wake());
    this.printed = this.collect();
  }

  private async collect(): Promise<void> {
    for await (const line of createInterface({
      input: this.child.stdout as NonNullable<ChildProcess['stdout']>,
    })) {
      this.events.push(JSON.parse(line) as Event);
      this.wake();
    }
    this.wake();
  }

  private wake(): void {
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }

  async event(kind: string): Promise<Event> {
    for (;;) {
      const found = this.events.find((event) => event.kind === kind);
      if (found !== undefined) return found;
      if (this.child.exitCode !== null) throw new Error(`the process ended without ${kind}`);
      await new Promise<void>((resolve) => this.waiting.add(resolve));
    }
  }

  /** The spans that it has printed, once it has ended. */
  async spans(): Promise<PrintedSpan[]> {
    await this.exited;
    await this.printed;
    return this.events.filter(({ kind }) => kind === 'span').map(({ span }) => span as PrintedSpan);
  }

  end(signal: NodeJS.Signals = 'SIGTERM'): Promise<PrintedSpan[]> {
    this.child.kill(signal);
    return this.spans();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.exited;
  }
}

async function folder(): Promise<AsyncDisposable & { readonly dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-trace-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

async function portOf(leader: TracedProcess): Promise<string> {
  return String((await leader.event('ready'))['port']);
}

function named(spans: readonly PrintedSpan[], name: string): PrintedSpan {
  const found = spans.filter((span) => span.name === name);
  assert.is(found.length, 1, `${found.length} spans are called ${name}: ${spans.map((span) => span.name)}`);
  return found[0] as PrintedSpan;
}

processes('a run is one trace: request, client, leader, worker and the span inside the handler', async () => {
  await using data = await folder();
  await using leader = new TracedProcess('leader', data.dir);
  const port = await portOf(leader);
  await using worker = new TracedProcess('worker', port);
  await worker.event('ready');
  await using client = new TracedProcess('client', port, 'shout', 'ann');
  const { output } = await client.event('output');
  const inClient = await client.spans();
  const inWorker = await worker.end();
  const inLeader = await leader.end();
  const request = named(inClient, 'GET /checkout');
  const run = named(inClient, 'run text.shout');
  const deliver = named(inLeader, 'deliver text.shout');
  const process = named(inWorker, 'process text.shout');
  const inside = named(inWorker, 'inside the handler');
  const all = [...inClient, ...inLeader, ...inWorker];
  assert.equal(new Set(all.map((span) => span.trace)), new Set([request.trace]), 'one trace');
  assert.is(run.parent, request.span);
  assert.is(deliver.parent, run.span);
  assert.is(process.parent, run.span);
  assert.is(inside.parent, process.span);
  assert.equal(process.links, [run.span]);
  assert.is(
    output,
    `ANN 00-${request.trace}-${process.span}-01`,
    'the handler has the context of its attempt',
  );
  assert.equal(
    [run.kind, deliver.kind, process.kind],
    [SpanKind.PRODUCER, SpanKind.INTERNAL, SpanKind.CONSUMER],
  );
  const ids = [run, deliver, process].map(({ attributes }) => attributes['messaging.message.id']);
  assert.equal(ids, ['1', '1', '1']);
});

processes(
  'each attempt of a retried job is a child of the same run, which ends without an error',
  async () => {
    await using data = await folder();
    await using leader = new TracedProcess('leader', data.dir);
    const port = await portOf(leader);
    await using worker = new TracedProcess('worker', port);
    await using client = new TracedProcess('client', port, 'flaky', 'ann');
    const run = named(await client.spans(), 'run text.flaky');
    const attempts = await worker.end();
    const deliveries = await leader.end();
    assert.is(run.status, SpanStatusCode.UNSET);
    for (const [spans, outcomes] of [
      [attempts, ['failed', 'ok']],
      [deliveries, ['retry', 'completed']],
    ] as const) {
      assert.equal(
        spans.map(({ attributes }) => attributes['troupe.job.attempt']),
        [1, 2],
      );
      assert.equal(
        spans.map(({ attributes }) => attributes['troupe.job.outcome']),
        outcomes,
      );
      assert.equal(
        spans.map(({ status }) => status),
        [SpanStatusCode.ERROR, SpanStatusCode.UNSET],
      );
      for (const { parent, trace } of spans) assert.equal([parent, trace], [run.span, run.trace]);
    }
  },
);

processes('the trace of a queued job survives a killed leader', async () => {
  await using data = await folder();
  await using killed = new TracedProcess('leader', data.dir);
  const port = await portOf(killed);
  await using client = new TracedProcess('client', port, 'submit', 'ann');
  await client.event('submitted');
  const send = named(await client.spans(), 'send text.shout');
  await killed.end('SIGKILL');
  await using leader = new TracedProcess('leader', data.dir, port);
  await portOf(leader);
  await using worker = new TracedProcess('worker', port);
  await worker.event('ready');
  await using second = new TracedProcess('client', port, 'shout', 'second');
  await second.spans();
  const inWorker = await worker.end();
  const inLeader = await leader.end();
  const first = inWorker.find(({ attributes }) => attributes['messaging.message.id'] === '1');
  assert.equal([first?.trace, first?.parent], [send.trace, send.span]);
  const delivered = inLeader.find(({ attributes }) => attributes['messaging.message.id'] === '1');
  assert.equal([delivered?.trace, delivered?.parent], [send.trace, send.span]);
});

processes.run();
