// Telemetry of a leader, its worker and its client: the messages of one job, in the order of their handlers.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defineJob, embedded, handle } from '@troupe/jobs';
import { telemetry } from '@troupe/middleware';

const text: StandardSchemaV1<string, string> = {
  '~standard': { version: 1, vendor: 'example', validate: (value) => ({ value: String(value) }) },
};
const Shout = defineJob('text.shout', { input: text, output: text });

// Over the network: the same option of startLeader, startWorker and connectClient.
const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const dir = await mkdtemp(join(tmpdir(), 'leader-telemetry-'));
const app = await embedded({
  dir,
  wal: { freeBytesSoft: 0 },
  middleware: [telemetry({ tracerProvider, producerSpans: false })],
});
app.worker({ handlers: [handle(Shout, async (value) => value.toUpperCase())] });
const client = app.client();
// The sessions of worker and client are open.
await client.overview();
exporter.reset();

assert.equal(await client.run(Shout, 'ann'), 'ANN');

const names = exporter.getFinishedSpans().map((span) => span.name);
console.log(names.join('\n'));
console.log(app.tree());
await app.close();
await rm(dir, { recursive: true });

/** The first of each of these, in this order. `turn` and `tick` come between them as they are due. */
const expected = [
  'client.submit',
  'leader.submit',
  'leader.durable',
  'worker.assign',
  'worker.attemptEnded',
  'worker.report',
  'leader.report',
  'client.outcomes',
];
let from = 0;
for (const name of expected) {
  const at = names.findIndex((one, index) => index >= from && one.includes(name));
  assert.ok(at >= 0, `${name} is missing in ${names.join(', ')}`);
  from = at;
}
