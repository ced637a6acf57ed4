import { type ActorRef, defineActor, MisuseError, NoRouteeError, OptionError, router } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const group = suite('router');

const Echo = defineActor('echo', {
  state: (args: { tag: string }) => args,
  handlers: {
    tag: (ctx) => ctx.state.tag,
    set(ctx, tag: string) {
      ctx.state.tag = tag;
    },
  },
});

group('a router skips routees that have ended', async () => {
  await using world = createTestSystem();
  const [a, b] = ['a', 'b'].map((tag) => world.system.spawn(Echo, { args: { tag } }));
  const both = router(Echo, [a, b] as NonNullable<typeof a>[]);
  await world.settle(world.system.stop(a as NonNullable<typeof a>));
  const replies = [both.ask.tag(), both.ask.tag(), both.ask.tag()];
  assert.equal(await world.settle(Promise.all(replies)), ['b', 'b', 'b']);
  await world.settle(world.system.stop(b as NonNullable<typeof b>));
  assert.instance(await both.ask.tag().catch((error: unknown) => error), NoRouteeError);
});

group('a router with no routees is refused', () => {
  assert.throws(
    () => router(Echo, []),
    (error: unknown) => error instanceof OptionError,
  );
});

group('invalid use of a router is refused with a typed error', async () => {
  await using world = createTestSystem();
  const refs = [world.system.spawn(Echo, { args: { tag: 'a' } })];
  for (const bad of [
    () => router(Echo, undefined as never),
    () => router(Echo, [{}] as never),
    () => router(Echo, refs, 'nonsense' as never),
    () => router(Echo, refs, { pull: {} } as never),
    () => router(Echo, refs, { hash: 1 } as never),
  ]) {
    assert.throws(bad, (error: unknown) => error instanceof OptionError);
  }
  assert.throws(
    () => router({} as never, refs),
    (error: unknown) => error instanceof MisuseError,
  );
});

group('a router is no actor: it cannot be watched or stopped', async () => {
  await using world = createTestSystem();
  const one = router(Echo, [world.system.spawn(Echo, { args: { tag: 'a' } })]);
  assert.throws(
    () => world.system.stop(one),
    (error: unknown) => error instanceof MisuseError,
  );
  assert.is(one.path, 'router of 1 echo');
  assert.is(String(one), 'router of 1 echo');
});

group('a routee of another definition is refused', async () => {
  await using world = createTestSystem();
  const Other = defineActor('other', { handlers: { set(_ctx, _tag: string) {}, tag: () => 'x' } });
  const other = world.system.spawn(Other);
  assert.throws(
    () => router(Echo, [other as unknown as ActorRef<typeof Echo>]),
    (error: unknown) => error instanceof OptionError,
  );
});

group.run();
