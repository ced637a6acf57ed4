// One role with traces, in a process of its own: prints its finished spans as JSON lines; ends with its parent.
//   node traced-process.js leader <dir> <port>
//   node traced-process.js worker <port>
//   node traced-process.js client <port> <exec> <input>
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { connectClient, handle, startLeader, startWorker } from '@troupe/jobs';
import { jobTelemetry } from '@troupe/middleware';
import { Flaky, Shout } from './traced-jobs.js';

/** A finished span, as it is printed. */
export interface PrintedSpan {
  readonly name: string;
  readonly kind: number;
  readonly trace: string;
  readonly span: string;
  readonly parent: string | undefined;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: number;
}

const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(tracerProvider);
const observed = jobTelemetry({ required: true });
const tracer = trace.getTracer('test');
const print = (event: object): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

/** Spans of the process so far, each printed once. */
function printSpans(): void {
  for (const span of exporter.getFinishedSpans()) print({ kind: 'span', span: printed(span) });
  exporter.reset();
}

function printed(span: ReadableSpan): PrintedSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    kind: span.kind,
    trace: traceId,
    span: spanId,
    parent: span.parentSpanContext?.spanId,
    links: span.links.map((link) => link.context.spanId),
    attributes: span.attributes,
    status: span.status.code,
  };
}

process.stdin.on('end', () => process.exit(0)).resume();
const [role, ...rest] = process.argv.slice(2);

if (role === 'leader') {
  const [dir = '', port = '0'] = rest;
  const leader = await startLeader({
    dir,
    address: { port: Number(port) },
    wal: { freeBytesSoft: 0 },
    onFatal: () => process.exit(74),
    ...observed.leader,
  });
  const address = leader.address as { readonly port: number };
  print({ kind: 'ready', port: address.port });
  process.once('SIGTERM', async () => {
    await leader.close({ withinMs: 2_000 });
    printSpans();
    process.stdin.destroy();
  });
} else if (role === 'worker') {
  const [port] = rest;
  const worker = await startWorker({
    address: { port: Number(port) },
    name: 'w',
    cpuCap: 1,
    withinMs: 30_000,
    handlers: [
      handle(Shout, async (input, attempt) => {
        // Behind an await, as the span of an instrumented database client would be.
        await Promise.resolve();
        tracer.startSpan('inside the handler').end();
        return `${String(input).toUpperCase()} ${attempt.trace?.traceparent}`;
      }),
      handle(Flaky, (input, { attempt }) => {
        if (attempt === 1) throw new Error('the first attempt fails');
        return input;
      }),
    ],
    ...observed.worker,
  });
  print({ kind: 'ready' });
  process.once('SIGTERM', async () => {
    await worker.close({ withinMs: 500 });
    printSpans();
    process.stdin.destroy();
  });
} else {
  const [port, exec, input = ''] = rest;
  const client = await connectClient({
    address: { port: Number(port) },
    withinMs: 30_000,
    ...observed.client,
  });
  await tracer.startActiveSpan('GET /checkout', async (request) => {
    if (exec === 'submit') print({ kind: 'submitted', id: (await client.submit(Shout, input)).id });
    else print({ kind: 'output', output: await client.run(exec === 'flaky' ? Flaky : Shout, input) });
    request.end();
  });
  client.close();
  printSpans();
  process.stdin.destroy();
}
