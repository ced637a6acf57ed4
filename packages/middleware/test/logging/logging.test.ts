import { type ActorSystem, createSystem, defineActor, type Host } from '@troupe/core';
import { ManualHost } from '@troupe/core/testing';
import { type LoggingOptions, logging } from '@troupe/middleware';
import { type RecordedLine, type RecordingLogger, recordingLogger } from '@troupe/middleware/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lineOf } from '#src/logging/logger.js';

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

function open(options: LoggingOptions, host?: Host): { system: ActorSystem; logger: RecordingLogger } {
  const logger = recordingLogger();
  const system = createSystem({
    name: 'bank',
    supervise: { restarts: 3, withinMs: 1_000 },
    middleware: [logging({ logger, ...options })],
    ...(host !== undefined && { host }),
  });
  return { system, logger };
}

lines('a failure is one line with path, message, directive, attempt and payload', async () => {
  const { system, logger } = open({ redact: ['pin'] });
  const ref = system.spawn(Teller, { name: 'ann' });
  await ref.ask.pay({ cents: -1, pin: '1234' }).catch(() => undefined);
  await ref.ask.poke();
  ref.tell.payLater({ cents: -2 });
  await ref.ask.poke();
  await system.shutdown();
  assert.is(logger.lines.length, 2);
  const [first, second] = logger.lines as [RecordedLine, RecordedLine];
  const { err, logId, ...fields } = first.fields;
  assert.is(first.level, 'error');
  assert.is((err as Error).message, 'a negative amount');
  assert.type(logId, 'string');
  assert.equal(fields, {
    kind: 'failed',
    path: '/ann',
    message: 'pay',
    directive: 'restart',
    why: 'within its limits',
    attempt: 1,
    attemptsMax: 3,
    messageHistory: ['outside → /ann.pay'],
    payload: { cents: -1, pin: '[redacted]' },
  });
  assert.is(second.fields['attempt'], 2);
  assert.equal(second.fields['payload'], { cents: -2 });
  assert.match(first.text, /attempt 1 of 3/);
});

lines('a payload is logged once, with its own failure', async () => {
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
  const { system, logger } = open({});
  const ref = system.spawn(Twice, { name: 't' });
  ref.tell.fail();
  await ref.ask.poke();
  await system.shutdown();
  assert.equal(
    logger.lines.map(({ fields }) => [fields['message'], 'payload' in fields]),
    [
      ['fail', true],
      ['restarting', false],
    ],
  );
});

lines('lines of `ctx.log` go to the same logger, redacted', async () => {
  const { system, logger } = open({ redact: ['pin'] });
  await system.spawn(Teller, { name: 'ann' }).ask.note('hello');
  await system.shutdown();
  assert.equal(logger.lines, [
    { level: 'info', fields: { path: '/ann', pin: '[redacted]', n: 1 }, text: '/ann: hello' },
  ]);
});

lines('every n-th turn is logged at its start and at its end, under one log id', async () => {
  const { system, logger } = open({ level: 'debug', everyNthTurn: 10 });
  const ref = system.spawn(Teller, { name: 'ann' });
  for (let i = 0; i < 20; i += 1) await ref.ask.poke();
  await system.shutdown();
  const turns = logger.lines.filter(({ text }) => text.startsWith('turn'));
  assert.equal(
    turns.map(({ text }) => text),
    ['turn begins', 'turn ended', 'turn begins', 'turn ended'],
  );
  const ids = turns.map(({ fields }) => fields['logId']);
  assert.is(ids[0], ids[1]);
  assert.is.not(ids[1], ids[2]);
  assert.equal([turns[1]?.fields['handled'], turns[1]?.fields['result']], [1, 'completed']);
});

lines('lines below the level are not logged, and turns have no hook', async () => {
  assert.is(logging({ level: 'info' }).beforeTurn, undefined);
  const { system, logger } = open({ level: 'error' });
  await system.spawn(Teller).ask.note('hello');
  await system.shutdown();
  assert.equal(logger.lines, []);
});

lines('a logger without all four levels and other bad options are refused', () => {
  const missing = { debug() {}, info() {}, warn() {} };
  assert.throws(() => logging({ logger: missing as never }), /logger.error/);
  assert.throws(() => logging({ level: 'loud' as never }), /level/);
  assert.throws(() => logging({ everyNthTurn: -1 }), /everyNthTurn/);
  assert.throws(() => logging({ redact: 'pin' as never }), /redact/);
});

lines('a console line is one JSON object, also with errors, bigints and circular values', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const error = Object.assign(new Error('no'), { code: 'ERR_X' });
  const line = JSON.parse(lineOf('error', 'now', { err: error, big: 1n }, 'text')) as Record<string, unknown>;
  assert.is((line['err'] as { code?: string }).code, 'ERR_X');
  assert.is(line['big'], '1n');
  assert.match(lineOf('info', 'now', { circular }, 'text'), /unloggable/);
});

lines('the wrapped host keeps the clock and the timers of the original', () => {
  const host = new ManualHost();
  const wrapped = logging({ logger: recordingLogger() }).wrapHost?.(host) as Host;
  host.moveTo(5);
  assert.is(wrapped.now(), 5);
  let fired = false;
  wrapped.setTimer(1, () => {
    fired = true;
  });
  host.moveTo(6);
  assert.ok(fired);
});

lines('a logger that throws loses its line and harms no actor', async () => {
  const broken = (): never => {
    throw new Error('EPIPE');
  };
  const logger = { debug: broken, info: broken, warn: broken, error: broken };
  const log = logging({ level: 'debug', everyNthTurn: 1, logger });
  await using system = createSystem({ name: 'broken', middleware: [log] });
  const teller = system.spawn(Teller);
  assert.is(await teller.ask.note('x'), true);
  assert.is(await teller.ask.pay({ cents: 1, pin: '' }), 1);
  assert.ok((log.metrics[0]?.read() ?? 0) >= 3);
});

lines('a huge error and its causes are truncated', async () => {
  const Huge = defineActor('huge', {
    handlers: {
      fail: (): number => {
        throw new Error('x'.repeat(1_000_000), { cause: new RangeError('y'.repeat(1_000_000)) });
      },
    },
  });
  const { system, logger } = open({});
  await system
    .spawn(Huge)
    .ask.fail()
    .catch(() => undefined);
  const line = logger.lines.find(({ fields }) => fields['err'] !== undefined);
  const error = line?.fields['err'] as Error;
  assert.instance(error, Error);
  assert.ok(lineOf('error', '', line?.fields ?? {}, line?.text ?? '').length < 100_000);
  assert.is((error.cause as Error).name, 'RangeError');
  await system.shutdown();
});

lines.run();
