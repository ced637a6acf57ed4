import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { createSystem } from '@troupe/core';
import { telemetry } from '@troupe/middleware';
import { trace } from 'api-copy';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const copies = suite('older version of the API package');

// `api-copy` is version 1.8.0 of @opentelemetry/api, installed under another name.
copies('an SDK registered with an older version is invisible and causes one process warning', async () => {
  const warnings: (Error & { readonly code?: string })[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  assert.ok(trace.setGlobalTracerProvider(new BasicTracerProvider()));
  assert.ok(trace.getTracer('there').startSpan('seen').isRecording());
  for (let i = 0; i < 3; i += 1) {
    await using system = createSystem({ middleware: [telemetry()] });
    assert.equal(Object.keys(telemetry()), ['name']);
    assert.ok(system);
  }
  // Warnings are emitted in a later turn of the event loop.
  await new Promise(setImmediate);
  assert.equal(
    warnings.map(({ code }) => code),
    ['ERR_SECOND_TELEMETRY_API'],
  );
  assert.match(warnings[0]?.message ?? '', /version 1\.8\.0 of @opentelemetry\/api.*cannot see it/);
});

copies.run();
