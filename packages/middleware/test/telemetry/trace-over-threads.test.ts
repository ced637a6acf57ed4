import { context, trace } from '@opentelemetry/api';
import { createSystem } from '@troupe/core';
import { threads } from '@troupe/threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { finishedSpans, middleware, Relay, type SpanData, tracer } from './traced-thread.js';

const spans = suite('traces over threads');

/** Names and paths from a span up to the root of its trace. */
function ancestry(span: SpanData | undefined, all: readonly SpanData[]): string[] {
  if (span === undefined) return [];
  const parent = all.find((other) => other.span === span.parent);
  return [[span.name, span.path].filter((part) => part !== undefined).join(' '), ...ancestry(parent, all)];
}

spans('a request that goes over three threads is one trace', async () => {
  await using system = createSystem({
    threads: threads({ count: 2, middleware: new URL('./traced-thread.js', import.meta.url) }),
    middleware,
  });
  const [one, two] = [1, 2].map((n) => system.spawn(Relay, { name: `relay-${n}`, on: `thread-${n}` }));
  assert.ok(one !== undefined && two !== undefined);
  const request = tracer.startSpan('request');
  const reply = await context.with(trace.setSpan(context.active(), request), () => one.ask.pass(two));
  request.end();
  assert.is(reply, 'end');
  const all = [...finishedSpans(), ...(await one.ask.spans()), ...(await two.ask.spans())];
  const last = all.find(({ name, path }) => name === 'process relay.pass' && path === '/relay-2');
  assert.equal(ancestry(last, all), [
    'process relay.pass /relay-2',
    'send relay.pass /relay-2',
    'process relay.pass /relay-1',
    'send relay.pass /relay-1',
    'request',
  ]);
  const { traceId } = request.spanContext();
  const parts = all.filter(({ trace: of }) => of === traceId);
  assert.is(parts.length, 5, 'nothing else is in the trace');
  for (const { startMs, endMs } of parts) assert.ok(endMs >= startMs && endMs - startMs < 60_000);
});

spans.run();
