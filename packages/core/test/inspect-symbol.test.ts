// Values that hold the runtime, as a log line or a JSON text shows them.
import { inspect } from 'node:util';
import { type ActorContext, defineActor, router } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const shown = suite('inspect symbol');

shown('refs, routers, pools, contexts and what a context makes are short in logs and in JSON', async () => {
  let values: Record<string, unknown> = {};
  const Actor = defineActor('actor', {
    handlers: {
      make(ctx) {
        const token = ctx.suspend('operator', { on: 'after', ms: 1 });
        values = { ctx, token, later: ctx.later(), timer: ctx.after(1, Actor.self(ctx)).ping() };
      },
      ping: (): string => 'pong',
    },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor, { name: 'a' });
  const pool = test.system.spawnPool(Actor, { size: 2, name: 'p' });
  await test.ask(ref).make();
  const all = { ref, tell: ref.tell, pool, router: router(Actor, [ref]), system: test.system, ...values };
  const expected: Record<string, string> = {
    ref: 'ref(/a)',
    tell: 'ref(/a)',
    pool: 'pool(/p)',
    router: 'router of 1 actor',
    system: 'system(troupe)',
    ctx: 'context(/a)',
    token: 'suspension',
    later: 'later reply',
    timer: 'timer',
  };
  for (const [name, value] of Object.entries(all)) {
    assert.is(inspect(value), expected[name], name);
    assert.is(JSON.stringify({ value }), JSON.stringify({ value: expected[name] }), name);
  }
  assert.match(inspect({ ask: ref.ask }), 'ref(/a)');
  assert.is(String(values.ctx as ActorContext), 'context(/a)');
  await test.settle(test.system.stop(ref));
  assert.is(inspect(values.ctx), 'context(/a)', 'of an ended context too');
});

shown('messages named like the methods of these texts are still messages', async () => {
  const Actor = defineActor('actor', {
    handlers: { toJSON: () => 'json', path: (_ctx, n: number) => n },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor, { name: 'a' });
  assert.is(JSON.stringify(ref), '"ref(/a)"');
  assert.is(await test.ask(ref).toJSON(), 'json');
  assert.is(await test.ask(ref).path(5), 5);
});

shown.run();
