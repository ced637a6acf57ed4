import { defineActor, type Middleware } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import {
  circuitBreaker,
  deadline,
  idempotency,
  logging,
  rateLimit,
  retry,
  timeout,
} from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const phases = suite('standard middleware and phases');

const keyOf = ({ payload }: { readonly payload: unknown }): string | undefined =>
  (payload as { readonly id?: string } | undefined)?.id;
const noLines = () => undefined;
const logger = { debug: noLines, info: noLines, warn: noLines, error: noLines };

const makers: Readonly<Record<string, () => Middleware>> = {
  circuitBreaker: () => circuitBreaker({ per: keyOf }),
  deadline: () => deadline({ withinMs: 1_000 }),
  idempotency: () => idempotency({ key: keyOf }),
  logging: () => logging({ level: 'debug', everyNthTurn: 1, logger }),
  rateLimit: () => rateLimit({ name: 'phases', perSecond: 1_000, burst: 100 }),
  retry: () => retry(),
  timeout: () => timeout({ withinMs: 100 }),
};

function connection(illegal: 'stash' | 'dead-letter', sent: string[]) {
  return defineActor('connection', {
    handlers: {},
    phases: {
      connecting: { connected: (ctx) => ctx.become('ready') },
      ready: {
        send(_ctx, { id }: { readonly id: string }) {
          sent.push(id);
          return `sent ${id}`;
        },
      },
    },
    illegal,
  });
}

for (const [name, make] of Object.entries(makers)) {
  phases(`${name}: a message that a phase stashes is handled in a later phase`, async () => {
    const sent: string[] = [];
    await using test = createTestSystem({ middleware: [make()] });
    const ref = test.system.spawn(connection('stash', sent));
    ref.tell.send({ id: 'a' });
    const asked = ref.ask.send({ id: 'b' });
    ref.tell.connected();
    await test.advance(100);
    assert.equal(sent, ['a', 'b']);
    assert.is(await asked, 'sent b');
  });

  phases(`${name}: a message that a phase refuses can be sent again in a later phase`, async () => {
    const sent: string[] = [];
    await using test = createTestSystem({ middleware: [make()] });
    const ref = test.system.spawn(connection('dead-letter', sent));
    const refused = ref.ask.send({ id: 'a' }).catch((error: { code?: string }) => error.code);
    ref.tell.connected();
    assert.is(await test.settle(refused), 'ERR_UNDELIVERED');
    assert.is(await test.ask(ref).send({ id: 'a' }), 'sent a');
    assert.equal(sent, ['a']);
  });
}

phases('a message that a phase stashes or refuses takes no rate-limit token', async () => {
  for (const illegal of ['stash', 'dead-letter'] as const) {
    const limit = rateLimit({ name: `phases ${illegal}`, perSecond: 1, burst: 5 });
    await using test = createTestSystem({ middleware: [limit] });
    await test.tell(test.system.spawn(connection(illegal, []))).send({ id: 'a' });
    assert.is(limit.consumed, 0);
  }
});

phases.run();
