import { createSystem, defineActor } from '@troupe/core';
import { logging } from '@troupe/middleware';
import { type Logger, levels, pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const pinoLines = suite('pino');

const Vault = defineActor('vault', {
  handlers: {
    open(ctx, attempt: { readonly pin: string }) {
      ctx.log.info('opening', { door: 'back' });
      if (attempt.pin !== '1234') throw Object.assign(new RangeError('wrong pin'), { code: 'ERR_PIN' });
      return true;
    },
  },
});

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A real pino logger that writes to a list. */
function pinoToList(level: string): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  return { logger: pino({ level, base: null }, stream), lines };
}

pinoLines('a pino logger needs no adapter: levels, fields and the error arrive', async () => {
  const { logger, lines } = pinoToList('info');
  const system = createSystem({ middleware: [logging({ logger, redact: ['pin'] })] });
  const ref = system.spawn(Vault, { name: 'vault' });
  await ref.ask.open({ pin: '0000' }).catch(() => undefined);
  await ref.ask.open({ pin: '1234' });
  await system.shutdown();
  const info = lines.find(({ level }) => level === levels.values['info']);
  assert.match(info?.msg ?? '', /opening/);
  assert.is(info?.['door'], 'back');
  const errors = lines.filter(({ level }) => level === levels.values['error']);
  assert.is(errors.length, 1);
  const [error] = errors;
  assert.match(error?.msg ?? '', /^\/vault\.open failed: wrong pin → restart, attempt 1 of \d+$/);
  assert.equal(
    [error?.['path'], error?.['message'], error?.['directive'], error?.['attempt']],
    ['/vault', 'open', 'restart', 1],
  );
  // The standard serializer of pino expects an error in the field `err`.
  const { type, message, code, stack } = (error?.['err'] ?? {}) as Record<string, unknown>;
  assert.equal([type, message, code], ['RangeError', 'wrong pin', 'ERR_PIN']);
  assert.match(String(stack), /pino\.test/);
  assert.equal(error?.['payload'], { pin: '[redacted]' });
  assert.not.match(JSON.stringify(lines), /0000/);
});

pinoLines(
  'turns are sampled at level debug under one log id, and the level of the pino logger applies too',
  async () => {
    const { logger, lines } = pinoToList('debug');
    const errorsOnly = pinoToList('error');
    const run = async (logger: Logger): Promise<void> => {
      const system = createSystem({
        middleware: [logging({ logger, level: 'debug', everyNthTurn: 1 })],
      });
      await system.spawn(Vault).ask.open({ pin: '1234' });
      await system.shutdown();
    };
    await run(logger);
    await run(errorsOnly.logger);
    const turns = lines.filter(({ level }) => level === levels.values['debug']);
    assert.equal(
      turns.map(({ msg }) => msg),
      ['turn begins', 'turn ended'],
    );
    assert.is(turns[0]?.['logId'], turns[1]?.['logId']);
    assert.equal(errorsOnly.lines, []);
  },
);

pinoLines.run();
