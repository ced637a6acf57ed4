// One trace from a request to the handler of its job: client, leader and worker, joined by TCP. Each part needs
// only the lines with its own side of jobTelemetry(), so they may as well be three processes.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { connectClient, defineJob, handle, startLeader, startWorker } from '@troupe/jobs';
import { jobTelemetry } from '@troupe/middleware';

// In every process, first of all: `new NodeSDK({ … }).start()` does the same.
const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
);
using observed = jobTelemetry({ required: true });
const tracer = trace.getTracer('shop');

const text: StandardSchemaV1<string, string> = {
  '~standard': { version: 1, vendor: 'example', validate: (value) => ({ value: String(value) }) },
};
const Charge = defineJob('card.charge', {
  input: text,
  output: text,
  retry: { attempts: 2, baseMs: 1, capMs: 1 },
});

// The leader.
const dir = await mkdtemp(join(tmpdir(), 'job-trace-'));
const leader = await startLeader({
  dir,
  wal: { freeBytesSoft: 0 },
  onFatal: (error) => console.error(error),
  ...observed.leader,
});
const { address } = leader;

// A worker. Spans of its handler, and of everything that it calls, are children of the attempt.
const worker = await startWorker({
  address,
  name: 'cards',
  handlers: [
    handle(Charge, async (card, { attempt }) => {
      await tracer.startActiveSpan('POST bank.example', async (span) => span.end());
      if (attempt === 1) throw new Error('the bank is busy');
      return `charged ${card}`;
    }),
  ],
  ...observed.worker,
});

// A client. The active span of the caller is the parent.
const client = await connectClient({ address, ...observed.client });
await tracer.startActiveSpan('POST /checkout', async (request) => {
  assert.equal(await client.run(Charge, '4711'), 'charged 4711');
  request.end();
});

client.close();
await worker.close();
await leader.close();
await rm(dir, { recursive: true });

const spans = exporter.getFinishedSpans();
const lines = treeOf(undefined, '');
console.log(lines.join('\n'));
assert.deepEqual(lines, [
  'POST /checkout',
  '  run card.charge',
  '    deliver card.charge, attempt 1: retry',
  '    deliver card.charge, attempt 2: completed',
  '    process card.charge, attempt 1: failed',
  '      POST bank.example',
  '    process card.charge, attempt 2: ok',
  '      POST bank.example',
]);

function treeOf(parent: string | undefined, indent: string): string[] {
  const children = spans.filter((span) => span.parentSpanContext?.spanId === parent);
  return children
    .sort((a, b) => (labelOf(a) < labelOf(b) ? -1 : 1))
    .flatMap((span) => [`${indent}${labelOf(span)}`, ...treeOf(span.spanContext().spanId, `${indent}  `)]);
}

function labelOf({ name, attributes }: ReadableSpan): string {
  const attempt = attributes['troupe.job.attempt'];
  return attempt === undefined ? name : `${name}, attempt ${attempt}: ${attributes['troupe.job.outcome']}`;
}
