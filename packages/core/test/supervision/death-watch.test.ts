import { type AnyRef, defineActor, MisuseError } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../deferred.js';
import { cellOf } from '../internals.js';

const deathWatch = suite('death watch');

const Target = defineActor('target', {
  handlers: {
    fail: (): never => {
      throw new Error('x');
    },
    ping: () => 'pong',
  },
});

const Watcher = defineActor('watcher', {
  state: () => ({ notices: [] as string[] }),
  handlers: {
    watch: (ctx, ref: AnyRef) => ctx.watch(ref),
    unwatch: (ctx, ref: AnyRef) => ctx.unwatch(ref),
    notices: (ctx) => [...ctx.state.notices],
    wait: async (_ctx, until: Promise<void>) => until,
    fail: (): never => {
      throw new Error('watcher');
    },
    watchSelf: (ctx) => ctx.watch(ctx.self),
  },
  terminated: (ctx, { ref, reason }) => void ctx.state.notices.push(`${ref.path} ${reason}`),
  mailbox: { capacity: 1, overflow: 'reject' },
});

async function notices(
  test: ReturnType<typeof createTestSystem>,
  ref: { readonly ask: { readonly notices: () => Promise<string[]> } },
): Promise<string[]> {
  await test.settle();
  const answer = ref.ask.notices();
  await test.settle();
  return answer;
}

deathWatch('a watcher is notified exactly once how the actor ended, also when it watches twice', async () => {
  await using test = createTestSystem();
  const watcher = test.system.spawn(Watcher);
  for (const how of ['stop', 'drain', 'kill'] as const) {
    const target = test.system.spawn(Target, { name: how });
    await test.tell(watcher).watch(target);
    await test.tell(watcher).watch(target);
    await test.settle(test.system[how](target));
  }
  assert.equal(await notices(test, watcher), ['/stop stopped', '/drain drained', '/kill killed']);
});

deathWatch('a watcher of an actor that has already ended is notified at once', async () => {
  await using test = createTestSystem();
  const target = test.system.spawn(Target, { name: 'm' });
  await test.settle(test.system.kill(target));
  const watcher = test.system.spawn(Watcher);
  watcher.tell.watch(target);
  assert.equal(await notices(test, watcher), ['/m killed']);
});

deathWatch('a watcher that watches again before its notification is notified once', async () => {
  await using test = createTestSystem();
  const target = test.system.spawn(Target, { name: 'm' });
  await test.settle(test.system.kill(target));
  const Twice = defineActor('twice', {
    state: () => ({ notices: 0 }),
    handlers: {
      async watch(ctx, ref: AnyRef) {
        ctx.watch(ref);
        ctx.watch(ref);
        await Promise.resolve();
        ctx.watch(ref);
      },
      notices: (ctx) => ctx.state.notices,
    },
    terminated(ctx) {
      ctx.state.notices += 1;
    },
  });
  const twice = test.system.spawn(Twice);
  await test.tell(twice).watch(target);
  const once = twice.ask.notices();
  twice.tell.watch(target);
  await test.settle();
  assert.is(await once, 1);
  assert.is(await test.ask(twice).notices(), 2, 'a new watch gets a new notification');
});

deathWatch('a watch outlives restarts of the watched actor without notifications', async () => {
  await using test = createTestSystem();
  const target = test.system.spawn(Target, { name: 'm' });
  const watcher = test.system.spawn(Watcher);
  await test.tell(watcher).watch(target);
  target.tell.fail();
  assert.equal(await notices(test, watcher), []);
  void test.system.stop(target);
  assert.equal(await notices(test, watcher), ['/m stopped']);
});

deathWatch('neither an unwatched actor nor a restart of the watcher leads to a notification', async () => {
  await using test = createTestSystem();
  const [first, second] = ['first', 'second'].map((name) => test.system.spawn(Target, { name }));
  const watcher = test.system.spawn(Watcher);
  for (const ref of [first, second]) {
    await test.tell(watcher).watch(ref as AnyRef);
  }
  await test.tell(watcher).unwatch(first as AnyRef);
  await test.tell(watcher).fail();
  for (const ref of [first, second]) void test.system.stop(ref as AnyRef);
  assert.equal(await notices(test, watcher), []);
});

deathWatch('unwatch prevents a notification that waits for the handler to settle', async () => {
  await using test = createTestSystem();
  const target = test.system.spawn(Target);
  const until = deferred();
  const seen: string[] = [];
  const Changing = defineActor('changing', {
    handlers: {
      async go(ctx) {
        ctx.watch(target);
        await until.promise;
        ctx.unwatch(target);
      },
    },
    terminated: () => void seen.push('notified'),
  });
  await test.tell(test.system.spawn(Changing)).go();
  await test.settle(test.system.stop(target));
  until.resolve();
  await test.settle();
  assert.equal(seen, []);
});

deathWatch(
  'a notification is never lost to a full mailbox, a suspension or an awaiting handler',
  async () => {
    await using test = createTestSystem();
    const target = test.system.spawn(Target, { name: 'm' });
    const watcher = test.system.spawn(Watcher);
    await test.tell(watcher).watch(target);
    const until = deferred();
    await test.tell(watcher).wait(until.promise);
    const token = test.system.suspend(watcher);
    watcher.tell.watch(target);
    watcher.tell.watch(target);
    await test.settle(test.system.stop(target));
    assert.equal((cellOf(watcher).state as { notices: string[] }).notices, []);
    until.resolve();
    await test.settle();
    assert.equal(
      (cellOf(watcher).state as { notices: string[] }).notices,
      ['/m stopped'],
      'signals pass a suspension',
    );
    token.resume();
    await test.settle();
  },
);

deathWatch('a failed watcher is notified when it is resumed', async () => {
  const Parent = defineActor('parent', {
    handlers: {},
    started: (ctx) => void ctx.spawn(Watcher, { name: 'w' }),
    supervise: { decide: () => 'resume' },
  });
  await using test = createTestSystem();
  const target = test.system.spawn(Target, { name: 'm' });
  test.system.spawn(Parent, { name: 'p' });
  await test.settle();
  const watcher = test.system.lookup(Watcher, 'p/w');
  assert.ok(watcher);
  await test.tell(watcher).watch(target);
  watcher.tell.fail();
  void test.system.stop(target);
  assert.equal(await notices(test, watcher), ['/m stopped']);
});

deathWatch('an ended watcher is removed from the watched actor', async () => {
  await using test = createTestSystem();
  const target = test.system.spawn(Target);
  for (let i = 0; i < 100; i += 1) {
    const watcher = test.system.spawn(Watcher);
    await test.tell(watcher).watch(target);
    await test.settle(test.system.stop(watcher));
  }
  assert.is(cellOf(target).cold?.watchers?.size, 0);
});

deathWatch('an actor cannot watch itself', async () => {
  const errors: Error[] = [];
  await using test = createTestSystem();
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  await test.tell(test.system.spawn(Watcher)).watchSelf();
  assert.is(errors.length, 1);
  assert.instance(errors[0], MisuseError);
});

deathWatch('the watcher of a pool is notified with the watched ref, and nothing is kept', async () => {
  await using test = createTestSystem();
  const refs: AnyRef[] = [];
  const Observer = defineActor('observer', {
    handlers: {
      watch: (ctx, ref: AnyRef) => ctx.watch(ref),
      unwatch: (ctx, ref: AnyRef) => ctx.unwatch(ref),
      link: (ctx, ref: AnyRef) => ctx.link(ref),
    },
    terminated: (_ctx, { ref }) => void refs.push(ref),
  });
  const observer = test.system.spawn(Observer);
  const ended = test.system.spawnPool(Target, { size: 2 });
  await test.tell(observer).watch(ended);
  await test.settle(test.system.stop(ended));
  await test.tell(observer).watch(ended);
  assert.is(refs.length, 2);
  assert.ok(refs.every((ref) => ref === ended));
  assert.is(cellOf(observer).cold?.watching?.size, 0);
  const unwatched = test.system.spawnPool(Target, { size: 2 });
  observer.tell.watch(unwatched);
  observer.tell.unwatch(unwatched);
  await test.settle();
  await test.settle(test.system.stop(unwatched));
  assert.is(refs.length, 2);
  const linked = test.system.spawnPool(Target, { size: 2 });
  await test.tell(observer).link(linked);
  await test.settle(test.system.stop(observer));
  assert.is(cellOf(linked).stopReason, 'stopped');
});

deathWatch.run();
