import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { recordingLogger } from '@troupe/middleware/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openAccount, openBank, registerSdk, serveMetrics } from './observability-guide-program.js';

const guide = suite('observability guide');

// From packages/middleware/.test/guide up to the root.
const root = new URL('../../../../', import.meta.url);

guide('the program in the guide is the program tested here', () => {
  const page = readFileSync(new URL('docs/guides/observability.md', root), 'utf8');
  const program = readFileSync(
    new URL('packages/middleware/test/guide/observability-guide-program.ts', root),
    'utf8',
  );
  assert.ok(page.includes(program), 'docs/guides/observability.md and observability-guide-program.ts differ');
});

guide('Prometheus scrapes every metric that the guide lists, and the spans form one trace', async () => {
  const spans = new InMemorySpanExporter();
  const prometheus = registerSdk(new SimpleSpanProcessor(spans));
  const logger = recordingLogger();
  const bank = openBank(logger);
  const server = serveMetrics(prometheus, 0);
  await once(server, 'listening');
  const ann = openAccount(bank);
  assert.is(await ann.deposit(5), 5);
  await ann.deposit(0.5).catch(() => undefined);
  await ann.deposit(7);
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await response.text();
  assert.is(response.status, 200);
  const deposits = /^messaging_client_sent_messages_total\{.*destination_name="account".*\} 3$/m;
  assert.match(text, deposits);
  assert.match(text, /^troupe_failures_total\{.*error_type="RangeError",directive="restart".*\} 1$/m);
  assert.match(text, /^troupe_rate_limit_consumed_total\{troupe_middleware_name="bank".*\} [1-9]/m);
  for (const name of metricsInGuide()) assert.ok(text.includes(`# TYPE ${name} `), `${name} was not scraped`);
  const first = spans.getFinishedSpans().filter(({ name }) => name === 'process account.deposit')[0];
  const trace = spans
    .getFinishedSpans()
    .filter((span) => span.spanContext().traceId === first?.spanContext().traceId);
  assert.equal(trace.map(({ name }) => name).sort(), [
    'process account.deposit',
    'process ledger.record',
    'send account.deposit',
    'send ledger.record',
  ]);
  assert.ok(logger.lines.some(({ level, fields }) => level === 'error' && fields['directive'] === 'restart'));
  await bank.shutdown();
  server.close();
});

/** The metric names of the guide's tables, without those that a new system does not have yet. */
function metricsInGuide(): readonly string[] {
  const page = readFileSync(new URL('docs/guides/observability.md', root), 'utf8');
  const all = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1] ?? '');
  // The metrics of jobs are scraped in the test of job telemetry.
  const names = all.filter((name) => !name.startsWith('troupe_jobs_'));
  assert.ok(names.length >= 15, `only ${names.length} metrics are listed`);
  return names.filter((name) => !['troupe_dead_letters_total', 'troupe_suspensions_total'].includes(name));
}

guide.run();
