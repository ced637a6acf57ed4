// Records a trace and prints it as SVG on stdout:
//   node packages/middleware/.test/guide/draw-trace-svg.js > docs/images/trace.svg

import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { consoleLogger } from '@troupe/middleware';
import { openAccount, openBank, registerSdk } from './observability-guide-program.js';

const spans = new InMemorySpanExporter();
registerSdk(new SimpleSpanProcessor(spans));
const bank = openBank(consoleLogger);
const ann = openAccount(bank);
// The first deposits warm up the compiler; the last one is drawn.
for (let i = 0; i < 45; i += 1) await ann.deposit(1);
spans.reset();
const now = (): number => performance.timeOrigin + performance.now();
const options = { startTime: now() };
await trace.getTracer('web').startActiveSpan('POST /accounts/ann/deposits', options, async (span) => {
  await ann.deposit(500);
  span.end(now());
});
await bank.shutdown();
process.stdout.write(`${toSvg(spans.getFinishedSpans())}\n`);

function toSvg(recorded: readonly ReadableSpan[]): string {
  const all = inTreeOrder(recorded);
  const begin = Math.min(...all.map(({ span }) => us(span.startTime)));
  const end = Math.max(...all.map(({ span }) => us(span.endTime)));
  const [left, width, row] = [330, 560, 34];
  const x = (at: number): number => Math.round((left + ((at - begin) / (end - begin)) * width) * 10) / 10;
  const rows = all.map(({ span, depth }, i) => {
    const y = 60 + i * row;
    const from = x(us(span.startTime));
    const to = Math.max(x(us(span.endTime)), from + 3);
    const took = Math.round(us(span.endTime) - us(span.startTime));
    const marks = span.events.map(
      ({ name, time }) =>
        `<line x1="${x(us(time))}" y1="${y - 11}" x2="${x(us(time))}" y2="${y + 11}" stroke="#333"><title>${name}</title></line>`,
    );
    return [
      `<text x="${14 + depth * 14}" y="${y + 4}">${span.name}</text>`,
      `<rect x="${from}" y="${y - 9}" width="${(to - from).toFixed(1)}" height="18" rx="3" fill="${colour(span)}"/>`,
      ...marks,
      `<text x="${to + 6}" y="${y + 4}" fill="#555">${took} µs</text>`,
    ].join('\n  ');
  });
  const height = 60 + all.length * row + 24;
  const id = all[0]?.span.spanContext().traceId ?? '';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="${height}" viewBox="0 0 1000 ${height}" font-family="system-ui, sans-serif" font-size="13">
  <rect width="1000" height="${height}" fill="#fff"/>
  <text x="14" y="26" font-weight="600">Trace ${id}: one deposit, ${Math.round(end - begin)} µs</text>
  <text x="560" y="26" fill="#555">blue: request · orange: producer · green: consumer · line: dequeued</text>
  ${rows.join('\n  ')}
</svg>`;
}

function inTreeOrder(recorded: readonly ReadableSpan[]): { span: ReadableSpan; depth: number }[] {
  const children = (parent: string | undefined): ReadableSpan[] =>
    recorded
      .filter((span) => span.parentSpanContext?.spanId === parent)
      .sort((a, b) => us(a.startTime) - us(b.startTime));
  const walk = (span: ReadableSpan, depth: number): { span: ReadableSpan; depth: number }[] => [
    { span, depth },
    ...children(span.spanContext().spanId).flatMap((child) => walk(child, depth + 1)),
  ];
  return children(undefined).flatMap((span) => walk(span, 0));
}

function us([seconds, nanos]: readonly [number, number]): number {
  return (seconds % 100_000) * 1e6 + nanos / 1_000;
}

function colour(span: ReadableSpan): string {
  return ['#4c78a8', '#4c78a8', '#4c78a8', '#f58518', '#54a24b'][span.kind] ?? '#999';
}
