import { metrics, trace } from '@opentelemetry/api';
import { createSystem, defineActor } from '@troupe/core';
import { telemetry } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openInMemorySdk, useAsyncContext } from './in-memory-sdk.js';

const registered = suite('registered SDK');

registered('telemetry without options uses what the SDK has registered', async () => {
  const sdk = openInMemorySdk();
  useAsyncContext();
  trace.setGlobalTracerProvider(sdk.tracerProvider);
  metrics.setGlobalMeterProvider(sdk.meterProvider);
  const Actor = defineActor('actor', { handlers: { ping: () => 'pong' } });
  const system = createSystem({ middleware: [telemetry({ required: true })] });
  await system.spawn(Actor).ask.ping();
  assert.ok(sdk.span('process actor.ping'));
  assert.ok((await sdk.metrics()).has('messaging.client.sent.messages'));
  await system.shutdown();
});

registered.run();
