import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import {
  type ActorRef,
  createSystem,
  defineActor,
  type Host,
  type Middleware,
  nodeHost,
  type RouterRef,
  router,
} from '@troupe/core';
import { createMiddlewareRig, createTestSystem } from '@troupe/core/testing';
import { NamedLimits, rateLimit, retry, telemetry } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ancestry, inRequest, namesOf, openInMemorySdk, traceOf, useAsyncContext } from './in-memory-sdk.js';

const tracing = suite('message spans');
useAsyncContext();

const Ledger = defineActor('ledger', {
  state: () => ({ broken: false }),
  handlers: {
    record(ctx, cents: number) {
      if (cents < 0) throw new RangeError('negative');
      return ctx.path;
    },
    note: () => undefined,
  },
});
const Account = defineActor('account', {
  state: () => ({}),
  started: (ctx) => void ctx.spawn(Ledger, { name: 'ledger' }),
  handlers: {
    async charge(ctx, cents: number) {
      const ledger = ctx.children[0] as ActorRef<typeof Ledger>;
      const path = await ctx.ask(ledger).record(cents);
      ctx.tell(ledger).note();
      return path;
    },
  },
});
const Shop = defineActor('shop', {
  started: (ctx) => void ctx.spawn(Account, { name: 'account' }),
  handlers: {
    async order(ctx, cents: number) {
      const account = ctx.children[0] as ActorRef<typeof Account>;
      return ctx.ask(account).charge(cents);
    },
  },
});

tracing('a request, its chain of asks and the tells it caused are one trace', async () => {
  const sdk = openInMemorySdk();
  const system = createSystem({ middleware: [telemetry(providers(sdk))] });
  const shop = system.spawn(Shop, { name: 'shop' });
  await inRequest(sdk, 'GET /order', () => shop.ask.order(5));
  await system.shutdown();
  const spans = sdk.spans();
  assert.is(new Set(spans.map(traceOf)).size, 1, namesOf(spans));
  assert.equal(ancestry(sdk.span('process ledger.record'), spans), [
    'process ledger.record',
    'send ledger.record',
    'process account.charge',
    'send account.charge',
    'process shop.order',
    'send shop.order',
    'GET /order',
  ]);
  assert.is(ancestry(sdk.span('process ledger.note'), spans)[2], 'process account.charge');
});

tracing('an ask after an await belongs to the trace of the current message', async () => {
  const sdk = openInMemorySdk();
  const Late = defineActor('late', {
    handlers: {
      async work(ctx, ledger: ActorRef<typeof Ledger>) {
        await Promise.resolve();
        await ctx.ask(ledger).record(1);
        return true;
      },
    },
  });
  const system = createSystem({ middleware: [telemetry(providers(sdk))] });
  const ledger = system.spawn(Ledger);
  await system.spawn(Late).ask.work(ledger);
  await system.shutdown();
  assert.equal(ancestry(sdk.span('process ledger.record'), sdk.spans()), [
    'process ledger.record',
    'send ledger.record',
    'process late.work',
    'send late.work',
  ]);
});

tracing(
  'a consumer span is linked to its producer span, and both follow the messaging conventions',
  async () => {
    const sdk = openInMemorySdk();
    const system = createSystem({ middleware: [telemetry(providers(sdk))] });
    const ledger = system.spawn(Ledger, { name: 'l' });
    await ledger.ask.record(1);
    await system.shutdown();
    const send = sdk.span('send ledger.record');
    const process = sdk.span('process ledger.record');
    assert.is(send.kind, SpanKind.PRODUCER);
    assert.is(process.kind, SpanKind.CONSUMER);
    assert.equal(
      process.links.map((link) => link.context.spanId),
      [send.spanContext().spanId],
    );
    assert.equal(process.attributes, {
      'messaging.system': 'troupe',
      'messaging.destination.name': 'ledger',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'troupe.message.name': 'record',
      'troupe.actor.path': '/l',
      'troupe.message.asked': true,
      'troupe.message.retries': 0,
      'troupe.message.outcome': 'handled',
    });
  },
);

tracing('one span covers a message from its send to the end of its handler', async () => {
  const sdk = openInMemorySdk();
  await using rig = createMiddlewareRig(telemetry(providers(sdk)), {
    handle: () => new Promise<void>((resolve) => void rig.host.setTimer(30, resolve)),
  });
  const token = rig.system.suspend(rig.ref);
  rig.ref.tell.work(1);
  await rig.advance(20);
  token.resume();
  await rig.advance(30);
  const span = sdk.span('process rigged.work');
  assert.is(Math.round(msOf(span.duration)), 50);
  const dequeued = span.events.find(({ name }) => name === 'dequeued');
  assert.is(dequeued?.attributes?.['troupe.message.waited_ms'], 20);
});

tracing(
  'every way of sending carries the trace: tell, offer, send, a full mailbox, a router, a stash',
  async () => {
    const sdk = openInMemorySdk();
    const Sink = defineActor('sink', {
      state: () => ({ open: false }),
      handlers: {
        told: () => undefined,
        offered: () => undefined,
        sent: () => undefined,
        routed: () => undefined,
        stashed(ctx) {
          if (!ctx.state.open) ctx.stash();
        },
        unstash(ctx) {
          ctx.state.open = true;
          ctx.unstash();
        },
      },
      mailbox: { capacity: 2, overflow: 'reject' },
      stashMax: 10,
    });
    const Source = defineActor('source', {
      handlers: {
        async go(ctx, sink: ActorRef<typeof Sink>) {
          sink.tell.stashed();
          sink.offer.offered();
          // The mailbox is full now: these sends wait for room.
          await Promise.all([sink.send.sent(), sink.send.sent(), sink.send.told()]);
          ctx.tell(sink).unstash();
        },
        route(_ctx, sinks: RouterRef<typeof Sink>) {
          sinks.tell.routed();
        },
      },
    });
    const system = createSystem({ middleware: [telemetry(providers(sdk))] });
    const sink = system.spawn(Sink);
    const both = router(Sink, [system.spawn(Sink), system.spawn(Sink)], 'broadcast');
    const source = system.spawn(Source);
    const requested = await inRequest(sdk, 'request', async (span) => {
      await source.ask.go(sink);
      source.tell.route(both);
      return span.spanContext();
    });
    await system.drain(source);
    await system.drain(sink);
    await system.shutdown();
    const spans = sdk.spans();
    const received = spans.filter(({ name }) => name.startsWith('process sink.'));
    assert.equal([...new Set(received.map(({ name }) => name.slice('process sink.'.length)))].sort(), [
      'offered',
      'routed',
      'sent',
      'stashed',
      'told',
      'unstash',
    ]);
    for (const span of received) assert.is(traceOf(span), requested.traceId, span.name);
  },
);

tracing('a trace continues over a failure and a restart', async () => {
  const sdk = openInMemorySdk();
  const system = createSystem({
    supervise: { restarts: 5, withinMs: 1_000 },
    middleware: [telemetry(providers(sdk))],
    host: silentHost(),
  });
  const ledger = system.spawn(Ledger, { name: 'l' });
  const answers = await inRequest(sdk, 'POST /pay', () =>
    Promise.allSettled([ledger.ask.record(-1), ledger.ask.record(2)]),
  );
  await system.shutdown();
  assert.equal(
    answers.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  const [failed, handled] = sdk.spans().filter(({ name }) => name === 'process ledger.record');
  assert.is(failed?.status.code, SpanStatusCode.ERROR);
  assert.is(failed?.attributes['error.type'], 'RangeError');
  assert.equal(
    failed?.events.map(({ name }) => name),
    ['dequeued', 'exception'],
  );
  assert.is(handled?.attributes['troupe.message.outcome'], 'handled');
  assert.is(new Set(sdk.spans().map(traceOf)).size, 1);
});

tracing('a burst does not leak the context of its first sender into an unrelated message', async () => {
  const sdk = openInMemorySdk();
  const Relay = defineActor('relay', {
    started: (ctx) => {
      const ledger = ctx.spawn(Ledger, { name: 'ledger' });
      ledger.tell.note();
    },
    handlers: {
      pass(ctx) {
        (ctx.children[0] as ActorRef<typeof Ledger>).tell.record(1);
        return true;
      },
    },
  });
  const system = createSystem({ middleware: [telemetry(providers(sdk))] });
  // The first request wakes the runtime; everything below is handled in its burst.
  const [one, two] = await Promise.all([
    inRequest(sdk, 'first', async (span) => {
      const relay = system.spawn(Relay, { name: 'relay' });
      await relay.ask.pass();
      return span.spanContext().traceId;
    }),
    inRequest(sdk, 'second', async (span) => {
      const relay = system.lookup(Relay, 'relay');
      await relay?.ask.pass();
      return span.spanContext().traceId;
    }),
  ]);
  await system.shutdown();
  const records = sdk.spans().filter(({ name }) => name === 'process ledger.record');
  assert.equal(records.map(traceOf).sort(), [one, two].sort());
  assert.equal(ancestry(sdk.span('process ledger.note'), sdk.spans()), [
    'process ledger.note',
    'send ledger.note',
  ]);
});

tracing('a message of a timer begins a trace that is linked to the span which armed the timer', async () => {
  const sdk = openInMemorySdk();
  const Waiter = defineActor('waiter', {
    handlers: {
      wait(ctx, done: () => void) {
        ctx.after(1, Waiter.self(ctx)).fire(done);
        return true;
      },
      fire: (_ctx, done: () => void) => done(),
    },
  });
  const system = createSystem({ middleware: [telemetry(providers(sdk))] });
  const waiter = system.spawn(Waiter);
  await new Promise<void>((resolve) => {
    void inRequest(sdk, 'request', () => waiter.ask.wait(resolve));
  });
  await system.shutdown();
  assert.equal(ancestry(sdk.span('process waiter.fire'), sdk.spans()), [
    'process waiter.fire',
    'send waiter.fire',
  ]);
  const armed = sdk.span('process waiter.wait').spanContext();
  assert.equal(
    sdk.span('send waiter.fire').links.map((link) => link.context.spanId),
    [armed.spanId],
  );
});

tracing(
  'every tick of a repeated timer is linked to the span that armed it, also after an await',
  async () => {
    for (const producerSpans of [true, false]) {
      const sdk = openInMemorySdk();
      const Metronome = defineActor('metronome', {
        state: () => ({ ticks: 0 }),
        handlers: {
          async begin(ctx) {
            await Promise.resolve();
            ctx.every(10, Metronome.self(ctx)).tick();
          },
          tick(ctx) {
            ctx.state.ticks += 1;
          },
        },
      });
      await using test = createTestSystem({
        middleware: [telemetry({ ...providers(sdk), producerSpans })],
      });
      await test.tell(test.system.spawn(Metronome)).begin();
      await test.advance(35);
      const { spanId } = sdk.span('process metronome.begin').spanContext();
      const name = producerSpans ? 'send metronome.tick' : 'process metronome.tick';
      const ticks = sdk.spans().filter((span) => span.name === name);
      assert.is(ticks.length, 3);
      assert.is(new Set(ticks.map(traceOf)).size, 3);
      for (const tick of ticks)
        assert.equal(
          tick.links.map((link) => link.context.spanId),
          [spanId],
        );
    }
  },
);

tracing('the span of a held message ends with an error status when its actor is killed', async () => {
  const sdk = openInMemorySdk();
  const hold: Middleware = {
    name: 'hold',
    beforeMessage: () => ({
      verdict: 'hold',
      reason: { user: 'closed' },
      resumeOn: { on: 'event', key: 'never' },
    }),
  };
  await using test = createTestSystem({ middleware: [telemetry(providers(sdk)), hold] });
  const ledger = test.system.spawn(Ledger);
  ledger.tell.note();
  ledger.tell.note();
  await test.settle();
  await test.settle(test.system.kill(ledger));
  const span = sdk.span('process ledger.note');
  assert.is(span.attributes['troupe.message.outcome'], 'lost');
  assert.is(span.attributes['error.type'], 'left-over');
  assert.equal(span.status, { code: SpanStatusCode.ERROR, message: 'a dead letter: left-over' });
  assert.equal(
    span.events.map(({ name }) => name),
    ['dequeued', 'held'],
  );
});

tracing(
  'as middleware of one spawn, a send from outside begins its own trace and is only linked',
  async () => {
    const sdk = openInMemorySdk();
    await using test = createTestSystem();
    const ledger = test.system.spawn(Ledger, { middleware: [telemetry(providers(sdk))] });
    const requested = await inRequest(sdk, 'request', async (span) => {
      ledger.tell.note();
      return span.spanContext();
    });
    await test.settle();
    const send = sdk.span('send ledger.note');
    assert.is.not(traceOf(send), requested.traceId);
    assert.equal(
      send.links.map((link) => link.context.spanId),
      [requested.spanId],
    );
  },
);

tracing('spans that a handler starts are children of its own span, also after an await', async () => {
  const sdk = openInMemorySdk();
  const tracer = sdk.tracerProvider.getTracer('user');
  const User = defineActor('user', {
    handlers: {
      async work() {
        tracer.startSpan('before').end();
        await Promise.resolve();
        tracer.startSpan('after').end();
        return true;
      },
    },
  });
  const system = createSystem({ middleware: [telemetry(providers(sdk))] });
  await system.spawn(User).ask.work();
  await system.shutdown();
  for (const name of ['before', 'after'])
    assert.is(ancestry(sdk.span(name), sdk.spans())[1], 'process user.work');
});

// Spans are balanced, whatever another middleware decides.
tracing('a held message has one span, and the span of a refused message has ended', async () => {
  const sdk = openInMemorySdk();
  const limit = rateLimit({ name: 'l', perSecond: 10, burst: 1 }, new NamedLimits());
  const refuseNo: Middleware = {
    name: 'no',
    beforeMessage: ({ payload }) => (payload === 'no' ? { verdict: 'refuse', why: 'because' } : undefined),
  };
  await using rig = createMiddlewareRig([telemetry(providers(sdk)), limit, refuseNo]);
  for (const payload of ['first', 'held', 'no']) rig.ref.tell.work(payload);
  await rig.advance(300);
  const spans = sdk.spans().filter(({ name }) => name === 'process rigged.work');
  assert.equal(
    spans.map(({ attributes }) => attributes['troupe.message.outcome']),
    ['handled', 'handled', 'refused'],
  );
  assert.equal(
    spans[1]?.events.map(({ name }) => name),
    ['dequeued', 'held', 'dequeued'],
  );
  assert.is(spans[2]?.status.message, 'because');
});

tracing('every attempt of a retried message has a span', async () => {
  const sdk = openInMemorySdk();
  let failing = 2;
  const handle = (): void => {
    failing -= 1;
    if (failing >= 0) throw new Error('not yet');
  };
  await using rig = createMiddlewareRig([telemetry(providers(sdk)), retry({ fromMs: 10, jitter: 0 })], {
    handle,
  });
  rig.ref.tell.work(1);
  await rig.advance(1_000);
  const spans = sdk.spans().filter(({ name }) => name === 'process rigged.work');
  assert.equal(
    spans.map(({ attributes }) => [
      attributes['troupe.message.retries'],
      attributes['troupe.message.outcome'],
    ]),
    [
      [0, 'failed'],
      [1, 'failed'],
      [2, 'handled'],
    ],
  );
  assert.is(new Set(spans.map(traceOf)).size, 1);
});

tracing('a message that is never dequeued leaves an ended producer span and no open span', async () => {
  const sdk = openInMemorySdk();
  await using rig = createMiddlewareRig(telemetry(providers(sdk)));
  rig.system.suspend(rig.ref);
  rig.ref.tell.work(1);
  await rig.settle(rig.system.kill(rig.ref));
  assert.equal(namesOf(sdk.spans()), 'send rigged.work');
});

tracing('`producerSpans: false` leaves the producer spans out', async () => {
  const sdk = openInMemorySdk();
  const system = createSystem({
    middleware: [telemetry({ tracerProvider: sdk.tracerProvider, producerSpans: false })],
  });
  await inRequest(sdk, 'request', () => system.spawn(Ledger).ask.record(1));
  await system.shutdown();
  assert.equal(ancestry(sdk.span('process ledger.record'), sdk.spans()), [
    'process ledger.record',
    'request',
  ]);
});

function providers({ tracerProvider, meterProvider }: ReturnType<typeof openInMemorySdk>) {
  return { tracerProvider, meterProvider };
}

/** The failures of these tests are intended and not logged. */
function silentHost(): Host {
  return { ...nodeHost, log: () => undefined };
}

function msOf([seconds, nanos]: readonly [number, number]): number {
  return seconds * 1_000 + nanos / 1e6;
}

tracing('a huge error is truncated in its span', async () => {
  const sdk = openInMemorySdk();
  const Huge = defineActor('huge', {
    handlers: {
      fail: (): number => {
        throw new Error('x'.repeat(1_000_000));
      },
    },
  });
  const system = createSystem({ middleware: [telemetry(providers(sdk))] });
  await system
    .spawn(Huge)
    .ask.fail()
    .catch(() => undefined);
  await system.shutdown();
  const { status, events } = sdk.span('process huge.fail');
  assert.ok((status.message ?? '').length < 20_000);
  assert.ok(JSON.stringify(events).length < 60_000);
});

tracing.run();
