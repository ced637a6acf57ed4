import { defineActor, Failure, type Middleware } from '@troupe/core';
import { createTestSystem, ManualHost } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../deferred.js';

const failures = suite('unreturned failures');

const wait = { promise: Promise.resolve() as Promise<unknown> };

const Account = defineActor('account', {
  state: () => ({ cents: 0 }),
  handlers: {
    good: (ctx, _n: number) => ctx.fail('good'),
    listed: (ctx) => [ctx.fail('listed')],
    later(ctx) {
      const reply = ctx.later<unknown>();
      reply.reply(ctx.fail('later'));
      return reply;
    },
    async goodLate(ctx) {
      await wait.promise;
      return ctx.fail('good-late');
    },
    async goodEarly(ctx) {
      const failure = ctx.fail('good-early');
      await wait.promise;
      return failure;
    },
    asData: (_ctx) => void new Failure('data', undefined),
    forgotten(ctx, n: number) {
      if (n > 0) ctx.fail('forgotten', { n });
      ctx.state.cents -= n;
      return ctx.state.cents;
    },
    forgottenVoid: (ctx) => void ctx.fail('forgotten-void'),
    async forgottenLate(ctx) {
      await wait.promise;
      ctx.fail('forgotten-late');
    },
    async forgottenEarly(ctx) {
      ctx.fail('forgotten-early');
      await wait.promise;
    },
  },
});

const noop: Middleware = { name: 'noop', beforeMessage: () => undefined };

async function warnings(
  middleware: readonly Middleware[],
  use: (ref: ReturnType<typeof spawned>, test: ReturnType<typeof createTestSystem>) => Promise<unknown>,
): Promise<string[]> {
  const host = new ManualHost();
  await using test = createTestSystem({ host, middleware });
  await use(spawned(test), test);
  await test.settle();
  return host.logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
}

function spawned(test: ReturnType<typeof createTestSystem>) {
  return test.system.spawn(Account, { name: 'a' });
}

const pipelines: readonly (readonly Middleware[])[] = [[], [noop]];

failures('a failure that its handler replies with is not warned of', async () => {
  for (const middleware of pipelines) {
    const found = await warnings(middleware, async (ref, test) => {
      await test.ask(ref).good(1);
      ref.tell.good(1);
      await test.ask(ref).listed();
      await test.ask(ref).later();
      await test.ask(ref).goodLate();
      await test.ask(ref).goodEarly();
      await test.ask(ref).asData();
    });
    assert.equal(found, []);
  }
});

failures('`ctx.fail` without `return` is warned of, once per definition and code', async () => {
  for (const middleware of pipelines) {
    const found = await warnings(middleware, async (ref, test) => {
      await test.ask(ref).forgotten(1);
      ref.tell.forgotten(2);
      ref.tell.forgottenVoid();
      await test.ask(ref).forgottenLate();
      await test.ask(ref).forgottenEarly();
      void test.system.stop(ref);
    });
    assert.equal(
      found.map(
        (text) => /^\/a: ctx\.fail\('([a-z-]+)'\) was not returned.*return ctx\.fail/.exec(text)?.[1],
      ),
      ['forgotten', 'forgotten-void', 'forgotten-late', 'forgotten-early'],
    );
  }
});

failures('a failure of a handler that a kill has ended is not warned of', async () => {
  const gate = deferred();
  wait.promise = gate.promise;
  const found = await warnings([], async (ref, test) => {
    await test.tell(ref).goodEarly();
    await test.settle(test.system.kill(ref));
    gate.resolve();
  });
  wait.promise = Promise.resolve();
  assert.not.ok(found.some((text) => text.includes('was not returned')));
});

failures.run();
