import { type ActorTimer, defineActor, OptionError } from '@troupe/core';
import { createTestSystem, ManualHost } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../deferred.js';
import { cellOf } from '../internals.js';

const timers = suite('timers');

const kept: ActorTimer[] = [];
const Clock = defineActor('clock', {
  state: () => ({ seen: [] as string[] }),
  handlers: {
    tick: (ctx, name: string) => void ctx.state.seen.push(`${name} ${ctx.now()}`),
    after: (ctx, ms: number) => void kept.push(ctx.after(ms, Clock.self(ctx)).tick('after')),
    every: (ctx, ms: number) => void kept.push(ctx.every(ms, Clock.self(ctx)).tick('every')),
    keyed: (ctx, ms: number) => void ctx.after(ms, Clock.self(ctx), { key: 'k' }).tick(`keyed ${ms}`),
    cancel: (ctx, key: string) => ctx.cancel(key),
    idleAfter: (ctx, ms: number | undefined) => ctx.receiveTimeout(ms),
    fail: (): never => {
      throw new Error('x');
    },
  },
  idle: (ctx) => void ctx.state.seen.push(`idle ${ctx.now()}`),
});

function seenOf(ref: Parameters<typeof cellOf>[0]): string[] {
  return (cellOf(ref).state as { seen: string[] }).seen;
}

timers('a timer sends its message once, at its time', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Clock);
  ref.tell.after(20);
  ref.tell.after(10);
  await test.advance(100);
  assert.equal(seenOf(ref), ['after 10', 'after 20']);
  assert.is(test.system.stats().timers, 0);
});

timers('a repeated timer keeps its interval until it is cancelled', async () => {
  kept.length = 0;
  await using test = createTestSystem();
  const ref = test.system.spawn(Clock);
  ref.tell.every(7);
  await test.advance(30);
  assert.equal(seenOf(ref), ['every 7', 'every 14', 'every 21', 'every 28']);
  assert.is(kept[0]?.active, true);
  kept[0]?.cancel();
  kept[0]?.cancel();
  assert.is(kept[0]?.active, false);
  await test.advance(30);
  assert.is(seenOf(ref).length, 4);
});

timers('a timer with the same key replaces the earlier one, and cancel ends it', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Clock);
  ref.tell.keyed(10);
  ref.tell.keyed(20);
  await test.advance(50);
  assert.equal(seenOf(ref), ['keyed 20 20']);
  ref.tell.keyed(10);
  const cancelled = [ref.ask.cancel('k'), ref.ask.cancel('k')];
  await test.advance(50);
  assert.equal(await Promise.all(cancelled), [true, false]);
  assert.is(seenOf(ref).length, 1);
});

timers('a restart and a stop end the timers of the incarnation', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Clock);
  for (let i = 0; i < 10; i += 1) {
    ref.tell.every(5);
    ref.tell.keyed(5);
  }
  await test.tell(ref).fail();
  assert.is(test.system.stats().timers, 0);
  ref.tell.every(5);
  ref.tell.idleAfter(5);
  await test.settle();
  assert.is(test.system.stats().timers, 2);
  await test.settle(test.system.stop(ref));
  assert.is(test.system.stats().timers, 0);
});

timers('a receive timeout fires repeatedly while no message arrives', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Clock);
  ref.tell.idleAfter(10);
  await test.advance(5);
  ref.tell.tick('message');
  await test.advance(30);
  assert.equal(seenOf(ref), ['message 5', 'idle 15', 'idle 25', 'idle 35']);
  ref.tell.idleAfter(undefined);
  await test.advance(100);
  assert.is(seenOf(ref).length, 4);
});

timers('invalid times are refused', async () => {
  await using test = createTestSystem({ supervise: { restarts: 100 } });
  const errors: Error[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  const ref = test.system.spawn(Clock);
  for (const ms of [-1, Number.NaN, 2 ** 31, Number.POSITIVE_INFINITY]) ref.tell.after(ms);
  ref.tell.every(0);
  for (const ms of [0, -5, Number.NaN]) ref.tell.idleAfter(ms);
  await test.settle();
  assert.is(errors.length, 8);
  assert.ok(errors.every((error) => error instanceof OptionError));
  assert.is(test.system.stats().timers, 0);
});

timers('a million timers are armed and cancelled without a leak', async () => {
  await using test = createTestSystem();
  const Armer = defineActor('armer', {
    handlers: {
      go(ctx) {
        const self = Armer.self(ctx);
        for (let i = 0; i < 1_000_000; i += 1)
          ctx
            .after(1_000 + (i % 5_000), self)
            .go()
            .cancel();
      },
    },
  });
  await test.tell(test.system.spawn(Armer)).go();
  assert.is(test.system.stats().timers, 0);
});

timers('a receive timeout begins when an asynchronous handler has settled', async () => {
  await using test = createTestSystem();
  const idle: number[] = [];
  const Slow = defineActor('slow', {
    handlers: {
      idleAfter: (ctx, ms: number) => ctx.receiveTimeout(ms),
      hold: async (_ctx, until: Promise<void>) => until,
    },
    idle: (ctx) => void idle.push(ctx.now()),
  });
  const ref = test.system.spawn(Slow);
  ref.tell.idleAfter(100);
  const until = deferred();
  ref.tell.hold(until.promise);
  await test.advance(1_010);
  assert.equal(idle, []);
  until.resolve();
  await test.advance(99);
  assert.equal(idle, []);
  await test.advance(1);
  assert.equal(idle, [1_110]);
});

timers('a receive timeout that passes several times while no turn runs fires once', async () => {
  class Blocked extends ManualHost {
    blockedMs = 0;
    override now(): number {
      return super.now() + this.blockedMs;
    }
  }
  const host = new Blocked();
  await using test = createTestSystem({ host });
  const ref = test.system.spawn(Clock);
  await test.tell(ref).idleAfter(100);
  host.blockedMs = 1_000;
  for (const at of [100, 199]) {
    host.moveTo(at);
    await test.settle();
  }
  assert.equal(seenOf(ref), ['idle 1100']);
});

timers.run();
