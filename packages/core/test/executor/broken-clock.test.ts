// needs: node
// Uncaught exceptions of callbacks reach listeners of the process on Node.
import { createSystem, defineActor, type Host, nodeHost } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const executor = suite('executor with a broken clock');

const Counter = defineActor('counter', {
  state: () => ({ n: 0 }),
  handlers: {
    add: (ctx) => {
      ctx.state.n += 1;
    },
    get: (ctx) => ctx.state.n,
  },
});

executor('a clock that throws once does not stop the executor', async () => {
  let broken = false;
  const host: Host = {
    ...nodeHost,
    now: () => {
      if (!broken) return nodeHost.now();
      broken = false;
      throw new Error('no clock');
    },
  };
  await using system = createSystem({ host });
  const Breaker = defineActor('breaker', {
    handlers: {
      break: () => {
        broken = true;
      },
    },
  });
  const [breaker, counter] = [system.spawn(Breaker), system.spawn(Counter)];
  const escaped = new Promise<Error>((resolve) => {
    process.once('uncaughtException', resolve);
  });
  breaker.tell.break();
  for (let i = 0; i < 1_000; i += 1) counter.tell.add();
  assert.is((await escaped).message, 'no clock');
  assert.is(await counter.ask.get(), 1_000);
});

executor.run();
