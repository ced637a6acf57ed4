import { defineActor, router } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const definition = suite('definition.is');

const Account = defineActor('account', { handlers: { balance: () => 5 } });
const Twin = defineActor('account', { handlers: { balance: () => 6 } });

definition('`is` is true for refs of its actors, and of pools and routers of them', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Account);
  const pool = test.system.spawnPool(Account, { size: 2 });
  const pull = test.system.spawnPool(Account, { size: 2, routing: { pull: {} } });
  for (const one of [ref, pool, pull, router(Account, [ref]), ...pool.routees]) {
    assert.ok(Account.is(one));
    assert.not.ok(Twin.is(one));
  }
  await test.settle(test.system.stop(ref));
  assert.ok(Account.is(ref), 'after its end too');
  for (const other of [undefined, null, 'x', {}, Account, test.system]) assert.not.ok(Account.is(other));
});

definition('`is` narrows the refs of `children` and `terminated`', async () => {
  const seen: unknown[] = [];
  const Bank = defineActor('bank', {
    handlers: {
      async total(ctx): Promise<number> {
        let total = 0;
        for (const child of ctx.children) if (Account.is(child)) total += await ctx.ask(child).balance();
        return total;
      },
      close(ctx) {
        for (const child of ctx.children) ctx.stop(child);
      },
    },
    started(ctx) {
      for (const kind of [Account, Twin]) ctx.watch(ctx.spawn(kind));
    },
    terminated: (_ctx, { ref }) => void seen.push(Account.is(ref)),
  });
  await using test = createTestSystem();
  const bank = test.system.spawn(Bank);
  assert.is(await test.ask(bank).total(), 5);
  await test.ask(bank).close();
  await test.settle();
  assert.equal(seen, [true, false]);
});

definition.run();
