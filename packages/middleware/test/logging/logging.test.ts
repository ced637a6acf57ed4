import { type ActorSystem, defineActor, type Host } from '@troupe/core';
import { ManualHost } from '@troupe/core/testing';
import { createEquippedSystem, type LoggingOptions, logging } from '@troupe/middleware';
import { type RecordedLine, type RecordingSink, recordingSink } from '@troupe/middleware/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lineOf } from '#src/logging/sink.js';

const lines = suite('logging');

const Teller = defineActor('teller', {
  handlers: {
    pay(_ctx, order: { readonly cents: number; readonly pin: string }) {
      if (order.cents < 0) throw new RangeError('a negative amount');
      return order.cents;
    },
    async payLater(_ctx, order: { readonly cents: number }) {
      await Promise.resolve();
      if (order.cents < 0) throw new RangeError('a negative amount');
    },
    note(ctx, text: string) {
      ctx.log.info(text, { pin: '1234', n: 1 });
      return true;
    },
    poke: () => true,
  },
});

function open(options: LoggingOptions, host?: Host): { system: ActorSystem; sink: RecordingSink } {
  const sink = recordingSink();
  const system = createEquippedSystem({
    name: 'bank',
    supervise: { restarts: 3, withinMs: 1_000 },
    middleware: [logging({ sink, ...options })],
    ...(host !== undefined && { host }),
  });
  return { system, sink };
}

lines('one line per failure, with path, message, directive, attempt n of m and the payload', async () => {
  const { system, sink } = open({ redact: ['pin'] });
  const ref = system.spawn(Teller, undefined, { name: 'ann' });
  await ref.ask.pay({ cents: -1, pin: '1234' }).catch(() => undefined);
  await ref.ask.poke();
  ref.tell.payLater({ cents: -2 });
  await ref.ask.poke();
  await system.shutdown();
  assert.is(sink.lines.length, 2);
  const [first, second] = sink.lines as [RecordedLine, RecordedLine];
  const { err, logId, ...fields } = first.fields;
  assert.is(first.level, 'error');
  assert.is((err as Error).message, 'a negative amount');
  assert.type(logId, 'string');
  assert.equal(fields, {
    kind: 'failed',
    path: '/ann',
    message: 'pay',
    directive: 'restart',
    attempt: 1,
    attemptsMax: 3,
    messageHistory: ['outside → /ann.pay'],
    payload: { cents: -1, pin: '[redacted]' },
  });
  assert.is(second.fields['attempt'], 2);
  assert.equal(second.fields['payload'], { cents: -2 });
  assert.match(first.text, /attempt 1 of 3/);
});

lines('a payload is written once, with the failure it belongs to', async () => {
  const Twice = defineActor('twice', {
    handlers: {
      fail() {
        throw new Error('first');
      },
      poke: () => true,
    },
    restarting() {
      throw new Error('second, in a hook');
    },
  });
  const { system, sink } = open({});
  const ref = system.spawn(Twice, undefined, { name: 't' });
  ref.tell.fail();
  await ref.ask.poke();
  await system.shutdown();
  assert.equal(
    sink.lines.map(({ fields }) => [fields['message'], 'payload' in fields]),
    [
      ['fail', true],
      ['restarting', false],
    ],
  );
});

lines('what actors log goes to the same sink, redacted', async () => {
  const { system, sink } = open({ redact: ['pin'] });
  await system.spawn(Teller, undefined, { name: 'ann' }).ask.note('hello');
  await system.shutdown();
  assert.equal(sink.lines, [
    { level: 'info', fields: { path: '/ann', pin: '[redacted]', n: 1 }, text: '/ann: hello' },
  ]);
});

lines('one of so many turns is written down at both ends, under one log id', async () => {
  const { system, sink } = open({ level: 'debug', everyTurn: 10 });
  const ref = system.spawn(Teller, undefined, { name: 'ann' });
  for (let i = 0; i < 20; i += 1) await ref.ask.poke();
  await system.shutdown();
  const turns = sink.lines.filter(({ text }) => text.startsWith('turn'));
  assert.equal(
    turns.map(({ text }) => text),
    ['turn begins', 'turn ended', 'turn begins', 'turn ended'],
  );
  const ids = turns.map(({ fields }) => fields['logId']);
  assert.is(ids[0], ids[1]);
  assert.is.not(ids[1], ids[2]);
  assert.equal([turns[1]?.fields['handled'], turns[1]?.fields['result']], [1, 'completed']);
});

lines('lines below the level are not made, and turns are not even looked at', async () => {
  assert.is(logging({ level: 'info' }).beforeTurn, undefined);
  const { system, sink } = open({ level: 'error' });
  await system.spawn(Teller).ask.note('hello');
  await system.shutdown();
  assert.equal(sink.lines, []);
});

lines('a pino logger is a sink, and so is anything with four levels', () => {
  const missing = { debug() {}, info() {}, warn() {} };
  assert.throws(() => logging({ sink: missing as never }), /sink.error/);
  assert.throws(() => logging({ level: 'loud' as never }), /level/);
  assert.throws(() => logging({ everyTurn: -1 }), /everyTurn/);
  assert.throws(() => logging({ redact: 'pin' as never }), /redact/);
});

lines('a line of the console is one JSON object, whatever is in it', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const error = Object.assign(new Error('no'), { code: 'ERR_X' });
  const line = JSON.parse(lineOf('error', 'now', { err: error, big: 1n }, 'text')) as Record<string, unknown>;
  assert.is((line['err'] as { code?: string }).code, 'ERR_X');
  assert.is(line['big'], '1n');
  assert.match(lineOf('info', 'now', { circular }, 'text'), /unloggable/);
});

lines('the runtime keeps its own clock and chance behind the sink', () => {
  const host = new ManualHost();
  const wrapped = logging({ sink: recordingSink() }).wrapHost?.(host) as Host;
  host.moveTo(5);
  assert.is(wrapped.now(), 5);
  let fired = false;
  wrapped.setTimer(1, () => {
    fired = true;
  });
  host.moveTo(6);
  assert.ok(fired);
});

lines('a sink that throws loses its line, and nobody else anything', async () => {
  const broken = (): never => {
    throw new Error('EPIPE');
  };
  const sink = { debug: broken, info: broken, warn: broken, error: broken };
  const log = logging({ level: 'debug', everyTurn: 1, sink });
  await using system = createEquippedSystem({ name: 'broken', middleware: [log] });
  const teller = system.spawn(Teller);
  assert.is(await teller.ask.note('x'), true);
  assert.is(await teller.ask.pay({ cents: 1, pin: '' }), 1);
  assert.ok((log.figures[0]?.read() ?? 0) >= 3);
});

lines('a huge error is cut, and so are its causes', async () => {
  const Huge = defineActor('huge', {
    handlers: {
      fail: (): number => {
        throw new Error('x'.repeat(1_000_000), { cause: new RangeError('y'.repeat(1_000_000)) });
      },
    },
  });
  const { system, sink } = open({});
  await system
    .spawn(Huge)
    .ask.fail()
    .catch(() => undefined);
  const line = sink.lines.find(({ fields }) => fields['err'] !== undefined);
  const error = line?.fields['err'] as Error;
  assert.instance(error, Error);
  assert.ok(lineOf('error', '', line?.fields ?? {}, line?.text ?? '').length < 100_000);
  assert.is((error.cause as Error).name, 'RangeError');
  await system.shutdown();
});

lines.run();
