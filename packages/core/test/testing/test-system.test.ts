import { defineActor } from '@troupe/core';
import { createTestSystem, ManualHost, SeededRandom } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const testing = suite('test system');

const One = defineActor('one', {
  state: (args: { name: string; log: string[] }) => args,
  handlers: { go: (ctx) => void ctx.state.log.push(ctx.state.name) },
});

/** The order in which ten ready actors run. */
async function orderOf(seed: number | undefined): Promise<string> {
  const log: string[] = [];
  await using test = createTestSystem(seed === undefined ? {} : { seed });
  for (const name of 'abcdefghij') test.system.spawn(One, { args: { name, log } }).tell.go();
  await test.settle();
  return log.join('');
}

testing('without a seed actors run in ready order, with a seed in a random order', async () => {
  assert.is(await orderOf(undefined), 'abcdefghij');
  const orders = new Set<string>();
  for (let seed = 1; seed <= 20; seed += 1) {
    const order = await orderOf(seed);
    assert.is(await orderOf(seed), order, `seed ${seed}`);
    orders.add(order);
  }
  assert.ok(orders.size >= 19, `${orders.size} orders of 20`);
});

testing('the same seed gives the same random numbers', () => {
  const draws = (seed: number, length: number) => {
    const random = new SeededRandom(seed);
    return Array.from({ length }, () => random.next());
  };
  const draw = (seed: number) => draws(seed, 5);
  assert.equal(draw(1), draw(1));
  assert.not.equal(draw(1), draw(2));
  const many = draws(3, 10_000);
  assert.ok(many.every((x) => x >= 0 && x < 1));
  assert.ok(Math.abs(many.reduce((a, b) => a + b) / many.length - 0.5) < 0.02);
});

testing('`advance` settles before it moves time: timers armed by pending work count', async () => {
  await using test = createTestSystem();
  const seen: number[] = [];
  const Timer = defineActor('timer', {
    handlers: {
      arm: (ctx) => void ctx.after(10, Timer.self(ctx)).fire(),
      fire: (ctx) => void seen.push(ctx.now()),
    },
  });
  test.system.spawn(Timer).tell.arm();
  await test.advance(10);
  assert.equal(seen, [10]);
});

testing('`advance` settles after each timer, at its time, and at the end', async () => {
  await using test = createTestSystem();
  const seen: number[] = [];
  const Chain = defineActor('chain', {
    handlers: {
      async next(ctx, left: number) {
        await Promise.resolve();
        seen.push(ctx.now());
        if (left > 0) ctx.after(5, Chain.self(ctx)).next(left - 1);
      },
    },
  });
  test.system.spawn(Chain).tell.next(4);
  await test.advance(17);
  assert.equal(seen, [0, 5, 10, 15]);
  assert.is(test.host.now(), 17);
  await test.advance(3);
  assert.equal(seen, [0, 5, 10, 15, 20]);
});

testing('`step` runs one turn and `settle` all turns and promises, without moving time', async () => {
  await using test = createTestSystem();
  const log: string[] = [];
  const refs = ['a', 'b'].map((name) => test.system.spawn(One, { args: { name, log } }));
  for (const ref of refs) ref.tell.go();
  assert.is(test.step(), true);
  assert.equal(log, ['a']);
  assert.is(test.step(), true);
  assert.is(test.step(), false);
  const Slow = defineActor('slow', {
    handlers: {
      async go() {
        for (let i = 0; i < 50; i += 1) await Promise.resolve();
        log.push('slow');
      },
    },
  });
  await test.tell(test.system.spawn(Slow)).go();
  assert.is(log.at(-1), 'slow');
  assert.is(test.host.now(), 0);
});

testing('the manual host runs timers in order, and callbacks on request', () => {
  const host = new ManualHost({ wallStart: 1_000 });
  const log: string[] = [];
  host.setTimer(20, () => log.push('20'));
  host.setTimer(10, () => log.push('10'));
  host.setTimer(10, () => log.push('10 again'));
  host.setTimer(5, () => log.push('cancelled')).cancel();
  host.soon(() => log.push('soon'));
  assert.is(host.nextDue(), 10);
  host.moveTo(15);
  assert.equal(log, ['10', '10 again']);
  assert.equal([host.now(), host.wallNow()], [15, 1_015]);
  assert.is(host.runCallbacks(), true);
  assert.is(host.runCallbacks(), false);
  host.moveTo(20);
  assert.equal(log, ['10', '10 again', 'soon', '20']);
});

testing('`world.events` has the events so far, and `world.eventsOf` those of one kind', async () => {
  await using world = createTestSystem();
  const Failing = defineActor('failing', {
    handlers: {
      fail: () => {
        throw new Error('broken');
      },
    },
  });
  const ref = world.system.spawn(Failing, { name: 'failing' });
  await world.tell(ref).fail();
  assert.equal(
    world.events.map(({ kind }) => kind),
    ['spawned', 'failed', 'restarted'],
  );
  const [failed] = world.eventsOf('failed');
  assert.equal([failed?.path, failed?.message, failed?.error.message], ['/failing', 'fail', 'broken']);
  assert.equal(world.eventsOf('dead-letter'), []);
});

testing.run();
