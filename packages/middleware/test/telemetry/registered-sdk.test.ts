import { metrics, trace } from '@opentelemetry/api';
import { defineActor } from '@troupe/core';
import { createEquippedSystem, telemetry } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openRecorder, useAsyncContext } from './recorder.js';

const registered = suite('registered SDK');

registered('telemetry without options uses what the SDK has registered', async () => {
  const recorder = openRecorder();
  useAsyncContext();
  trace.setGlobalTracerProvider(recorder.tracerProvider);
  metrics.setGlobalMeterProvider(recorder.meterProvider);
  const Actor = defineActor('actor', { handlers: { ping: () => 'pong' } });
  const system = createEquippedSystem({ middleware: [telemetry({ required: true })] });
  await system.spawn(Actor).ask.ping();
  assert.ok(recorder.span('process actor.ping'));
  assert.ok((await recorder.metrics()).has('messaging.client.sent.messages'));
  await system.shutdown();
});

registered.run();
