import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  type DashboardOptions,
  type DashboardServer,
  type ServeOptions,
  serveDashboard,
} from '@troupe/dashboard';
import { type Client, defineJob, type EmbeddedJobs, embedded, handle, NonRetryableError } from '@troupe/jobs';

export const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
};
const aText: StandardSchemaV1<string, string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => (typeof value === 'string' ? { value } : { issues: [{ message: 'not a text' }] }),
  },
};

export const Shout = defineJob('text.shout', { input: aText, output: aText });
const Echo = defineJob('sample.echo', { input: anything, output: anything });
const Fail = defineJob('sample.fail', { input: anything, output: anything });
const Endless = defineJob('sample.endless', { input: anything, output: anything });
const Chat = defineJob('sample.chat', { input: anything, output: anything, chunk: anything, feed: anything });
const Slow = defineJob('sample.slow', { input: anything, output: anything });
const Add = defineJob('math.add', { input: anything, output: anything });
const InSteps = defineJob('sample.steps', { input: anything, output: anything, chunk: anything });
const Parts = defineJob('sample.parts', { input: anything, output: anything, chunk: anything });
const Bytes = defineJob('sample.bytes', { input: anything, output: anything, chunk: anything });
const Trace = defineJob('sample.trace', { input: anything, output: anything });
const Count = defineJob('sample.count', { input: anything, output: anything, chunk: anything });

/** A leader and a worker in this process, and the gateway on a port of its own. */
export class GatewayRig implements AsyncDisposable {
  readonly client: Client;
  readonly url: string;
  private readonly app: EmbeddedJobs;
  private readonly server: DashboardServer;
  private readonly folder: string;
  private readonly steps: Steps;

  private constructor(
    app: EmbeddedJobs,
    client: Client,
    server: DashboardServer,
    folder: string,
    steps: Steps,
  ) {
    this.app = app;
    this.client = client;
    this.server = server;
    this.url = server.url;
    this.folder = folder;
    this.steps = steps;
  }

  static async start(
    options: Omit<ServeOptions, keyof Pick<DashboardOptions, 'client'>> = {},
  ): Promise<GatewayRig> {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-gateway-'));
    const app = await embedded({ dir: folder });
    const steps = new Steps();
    app.worker({
      handlers: [
        handle(Shout, (input) => input.toUpperCase()),
        handle(Echo, (input) => input),
        handle(Add, (input) => (input as number[]).reduce((sum, one) => sum + one, 0)),
        handle(Fail, (input) => {
          if (input === 'mended') return input;
          throw new NonRetryableError('it never works', { cause: new Error('no paper') });
        }),
        handle(Endless, (_input, { signal }) => aborted(signal)),
        handle(Chat, async function* (_input, { feed }) {
          for await (const item of feed) yield `heard ${JSON.stringify(item)}`;
        }),
        handle(Slow, (_input, { progress, log, signal }) => {
          progress(0.4, 'page 12');
          log('read page 12');
          return aborted(signal);
        }),
        handle(InSteps, async function* (input, { signal }) {
          for (let number = 1; number <= Number(input); number += 1) {
            await steps.reached(number, signal);
            yield `part ${number}`;
          }
        }),
        handle(Parts, async function* (input, { trailer }) {
          trailer({ secret: 'hunter2' });
          yield input;
        }),
        handle(Bytes, async function* (input) {
          const bytes = typeof input === 'string' ? Buffer.from(input) : (input as Uint8Array);
          yield new Uint8Array(bytes);
          return new Uint8Array(bytes);
        }),
        handle(Trace, (_input, { trace }) => trace?.traceparent ?? null),
        handle(Count, async function* (input) {
          for (let number = 1; number <= Number(input); number += 1) yield number;
        }),
      ],
    });
    const client = app.client({ name: 'gateway' });
    const server = await serveDashboard({ jobs: [Shout], ...options, client, port: 0 });
    return new GatewayRig(app, client, server, folder, steps);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers });
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers });
  }

  /** Lets `sample.steps` yield one more chunk. */
  step(): void {
    this.steps.next();
  }

  /** The id of a new job. */
  async submit(exec: string, input: unknown, query = ''): Promise<string> {
    const answer = await this.post(`/api/execs/${exec}/jobs${query}`, input);
    return ((await answer.json()) as { id: string }).id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
    await this.app.close({ withinMs: 100 });
    await rm(this.folder, { recursive: true });
  }
}

/** A number that a test counts up and a handler waits for. */
class Steps extends EventEmitter {
  private count = 0;

  next(): void {
    this.count += 1;
    this.emit('step');
  }

  async reached(count: number, signal: AbortSignal): Promise<void> {
    while (this.count < count) await once(this, 'step', { signal });
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}
