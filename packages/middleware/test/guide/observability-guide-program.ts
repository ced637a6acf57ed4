import { createServer, type Server } from 'node:http';
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type ActorRef, type ActorSystem, createSystem, defineActor } from '@troupe/core';
import { type Logger, logging, rateLimit, telemetry } from '@troupe/middleware';

/** Call it before telemetry(), which looks for a registered SDK. */
export function registerSdk(spans: SpanProcessor): PrometheusExporter {
  const prometheus = new PrometheusExporter({ preventServerStart: true });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [spans] }));
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [prometheus] }));
  return prometheus;
}

const Ledger = defineActor('ledger', {
  state: () => ({ entries: 0 }),
  handlers: {
    record(ctx, cents: number) {
      if (!Number.isInteger(cents)) throw new RangeError('cents are whole');
      ctx.state.entries += 1;
      return ctx.state.entries;
    },
  },
});

const Account = defineActor('account', {
  state: (args: { ledger: ActorRef<typeof Ledger> }) => ({ ...args, cents: 0 }),
  handlers: {
    async deposit(ctx, cents: number) {
      await ctx.ask(ctx.state.ledger).record(cents);
      ctx.state.cents += cents;
      return ctx.state.cents;
    },
  },
});

export function openBank(logger: Logger): ActorSystem {
  return createSystem({
    name: 'bank',
    middleware: [
      telemetry({ required: true }),
      logging({ logger, redact: ['pin'] }),
      rateLimit({ name: 'bank', perSecond: 1_000, burst: 100 }),
    ],
  });
}

export interface Teller {
  deposit(cents: number): Promise<number>;
}

export function openAccount(bank: ActorSystem): Teller {
  const ledger = bank.spawn(Ledger, { name: 'ledger' });
  const account = bank.spawn(Account, { args: { ledger }, name: 'ann' });
  return { deposit: (cents) => account.ask.deposit(cents) };
}

/** Serves `/metrics` for Prometheus; port 0 is any free port. */
export function serveMetrics(prometheus: PrometheusExporter, port: number): Server {
  return createServer((request, response) => {
    if (request.url === '/metrics') prometheus.getMetricsRequestHandler(request, response);
    else response.writeHead(404).end();
  }).listen(port, '127.0.0.1');
}
