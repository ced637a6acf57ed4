// Bugs known from other actor runtimes. Each test states the correct behaviour.
import {
  type ActorRef,
  type AnyRef,
  createSystem,
  defineActor,
  type Middleware,
  type RuntimeEvent,
} from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from './deferred.js';

const otherRuntimes = suite('bugs of other runtimes');

const Watcher = defineActor('watcher', {
  state: () => ({ notices: [] as string[] }),
  handlers: {
    watch(ctx, ref: AnyRef) {
      ctx.watch(ref);
    },
    notices: (ctx) => ctx.state.notices,
  },
  terminated(ctx, { ref, reason }) {
    ctx.state.notices.push(`${ref.path} ${reason}`);
  },
});

const boom = (): never => {
  throw new Error('boom');
};
const boomLater = async (): Promise<never> => {
  throw new Error('boom');
};

// Bug: a hook that throws or hangs leaves an actor that neither runs nor ends.

for (const throws of [boom, boomLater]) {
  const how = throws === boom ? 'throws' : 'rejects';
  for (const hook of ['state', 'started', 'restarting', 'stopping', 'stopped'] as const) {
    if (hook === 'state' && throws === boomLater) continue;
    otherRuntimes(
      `when ${hook} ${how}, the actor ends, leaves its parent and notifies its watchers once`,
      async () => {
        await using world = createTestSystem();
        const Broken = defineActor('broken', {
          handlers: {
            crash: boom,
            leave(ctx) {
              ctx.stop();
            },
          },
          [hook]: throws,
        });
        const Parent = defineActor('parent', {
          handlers: {
            spawn: (ctx): AnyRef => ctx.spawn(Broken as never, { name: 'child' }) as AnyRef,
            children: (ctx) => ctx.children.length,
          },
          supervise: { restarts: 2, withinMs: 1_000, decide: () => 'restart' },
        });
        const parent = world.system.spawn(Parent, { name: 'parent', restart: 'temporary' });
        const child = (await world.ask(parent).spawn()) as ActorRef<typeof Broken>;
        const watcher = world.system.spawn(Watcher);
        await world.tell(watcher).watch(child);
        if (hook === 'stopping' || hook === 'stopped') child.tell.leave();
        // One crash more than the restart limit.
        for (let i = 0; i < 4; i += 1) {
          await world.tell(child).crash();
        }
        assert.is((await world.ask(watcher).notices()).length, 1);
        assert.is(child.offer.crash(), 'closed');
        assert.is(world.system.lookup(Broken, 'parent/child'), undefined);
      },
    );
  }
}

otherRuntimes(
  'a child that always fails at its start, five levels deep, is given up within the product of the restart limits',
  async () => {
    const world = createTestSystem({ supervise: { restarts: 2, withinMs: 60_000 } });
    let starts = 0;
    const Leaf = defineActor('leaf', {
      handlers: {},
      started() {
        starts += 1;
        boom();
      },
    });
    type Level = { readonly below: number };
    const Level = defineActor('level', {
      state: (args: Level) => args,
      handlers: {},
      started(ctx): void {
        if (ctx.state.below === 0) ctx.spawn(Leaf);
        else ctx.spawn(Level, { args: { below: ctx.state.below - 1 } });
      },
      supervise: { restarts: 2, withinMs: 60_000, backoff: { fromMs: 10, toMs: 100 } },
    });
    world.system.spawn(Level, { args: { below: 3 } });
    await world.advance(60_000);
    const report = await Promise.race([world.system.whenStopped, Promise.resolve(undefined)]);
    assert.match(report?.cause?.message ?? '', /boom/);
    assert.is(starts, 3 ** 5);
  },
);

otherRuntimes('a hook that hangs is ended by its time limit, or at once by a kill', async () => {
  for (const hook of ['started', 'restarting', 'stopping', 'stopped'] as const) {
    for (const verb of ['stop', 'kill'] as const) {
      await using world = createTestSystem();
      const Hung = defineActor('hung', {
        handlers: { crash: boom },
        stopWithinMs: 100,
        [hook]: () => new Promise<void>(() => undefined),
      });
      const hung = world.system.spawn(Hung);
      await world.tell(hung).crash();
      const ended = world.system[verb](hung);
      await world.advance(verb === 'kill' ? 0 : 101);
      assert.ok(await Promise.race([ended, Promise.resolve(false)]), `${verb} during ${hook}`);
    }
  }
});

// Bug: a stop during a restart of siblings is lost.

otherRuntimes('a sibling that is stopping during a one-for-all restart still ends, once', async () => {
  await using world = createTestSystem();
  const hook = deferred();
  const Slow = defineActor('slow', { handlers: { ping() {} }, stopping: () => hook.promise });
  const Crash = defineActor('crash', { handlers: { crash: boom } });
  const Parent = defineActor('parent', {
    handlers: { fill: (ctx) => ({ slow: ctx.spawn(Slow), crash: ctx.spawn(Crash) }) },
    supervise: { strategy: 'one-for-all' },
  });
  const { slow, crash } = await world.ask(world.system.spawn(Parent)).fill();
  const watcher = world.system.spawn(Watcher);
  await world.tell(watcher).watch(slow);
  const stopped = world.system.stop(slow);
  await world.settle();
  await world.tell(crash).crash();
  hook.resolve();
  await world.settle();
  assert.is(await Promise.race([stopped, Promise.resolve('still there')]), 'stopped');
  assert.is((await world.ask(watcher).notices()).length, 1);
});

// Bug: a directive starts a second handler of a busy actor.

otherRuntimes('a directive for a busy sibling never makes it run two handlers at once', async () => {
  for (const directive of ['resume', 'restart'] as const) {
    await using world = createTestSystem();
    let running = 0;
    let most = 0;
    const resolvers: (() => void)[] = [];
    const Busy = defineActor('busy', {
      state: () => ({}),
      handlers: {
        async work(ctx, _n: number) {
          running += 1;
          most = Math.max(most, running);
          await new Promise<void>((resolve) => {
            resolvers.push(resolve);
            // A handler of an ended incarnation does not count as running.
            ctx.signal.addEventListener('abort', () => {
              running -= 1;
            });
          });
          if (!ctx.signal.aborted) running -= 1;
        },
      },
    });
    const Crash = defineActor('crash', { handlers: { crash: boom } });
    const Parent = defineActor('parent', {
      handlers: { fill: (ctx) => ({ busy: ctx.spawn(Busy), crash: ctx.spawn(Crash) }) },
      supervise: { strategy: 'one-for-all', decide: () => directive },
    });
    const { busy, crash } = await world.ask(world.system.spawn(Parent)).fill();
    for (let n = 0; n < 4; n += 1) busy.tell.work(n);
    await world.settle();
    await world.tell(crash).crash();
    for (let i = 0; i < 10; i += 1) {
      resolvers.shift()?.();
      await world.settle();
    }
    assert.is(most, 1, directive);
  }
});

// Bug: a resume does not reach descendants that wait for it.

otherRuntimes('a resume of a parent also resumes the descendants that wait for its decision', async () => {
  await using world = createTestSystem({ supervise: { decide: () => 'resume' } });
  const Leaf = defineActor('leaf', {
    state: () => ({ n: 0 }),
    handlers: { crash: boom, get: (ctx) => ctx.state.n },
  });
  const Middle = defineActor('middle', {
    handlers: { leaf: (ctx) => ctx.spawn(Leaf), ping: () => 'pong' },
    supervise: { decide: () => 'escalate' },
  });
  const Top = defineActor('top', {
    handlers: { middle: (ctx) => ctx.spawn(Middle), ping: () => 'pong' },
    supervise: { decide: () => 'escalate' },
  });
  const top = world.system.spawn(Top);
  const middle = await world.ask(top).middle();
  const leaf = await world.ask(middle).leaf();
  await world.tell(leaf).crash();
  const replies = [top.ask.ping(), middle.ask.ping(), leaf.ask.get()];
  assert.equal(await world.settle(Promise.all(replies)), ['pong', 'pong', 0]);
});

// Bug: the mailbox of a suspended actor grows without bound.

otherRuntimes('a bounded mailbox stays bounded while its actor is suspended', async () => {
  for (const overflow of ['reject', 'drop-newest', 'drop-oldest'] as const) {
    await using world = createTestSystem();
    const Small = defineActor('small', {
      handlers: { take(_ctx, _n: number) {} },
      mailbox: { capacity: 10, overflow },
    });
    const small = world.system.spawn(Small);
    const token = world.system.suspend(small);
    for (let n = 0; n < 1_000; n += 1) small.tell.take(n);
    await world.settle();
    assert.is(world.system.stats().queued, 10, overflow);
    assert.is(world.system.stats().deadLetters, 990, overflow);
    token.resume();
    await world.settle();
    assert.is(world.system.stats().handled, 10, overflow);
  }
});

otherRuntimes(
  'the mailbox of a suspended actor stays bounded under endless sends, and stop and kill work at once',
  async () => {
    for (const verb of ['stop', 'kill'] as const) {
      await using world = createTestSystem({ queuedMax: 500 });
      const Sink = defineActor('sink', { handlers: { take() {} } });
      const sink = world.system.spawn(Sink);
      world.system.suspend(sink);
      for (let n = 0; n < 2_000; n += 1) sink.tell.take();
      await world.settle();
      assert.ok(world.system.stats().queued <= 500);
      const ended = world.system[verb](sink);
      await world.settle();
      assert.is(
        await Promise.race([ended, Promise.resolve('still there')]),
        verb === 'stop' ? 'stopped' : 'killed',
      );
      const { queued, handled, deadLetters } = world.system.stats();
      assert.equal({ queued, handled, deadLetters }, { queued: 0, handled: 0, deadLetters: 2_000 });
    }
  },
);

// Bug: a termination notice is lost.

otherRuntimes(
  'a termination notice is not lost to a full mailbox, a suspension or a rate limit',
  async () => {
    await using world = createTestSystem();
    let notices = 0;
    const hold: Middleware = {
      name: 'hold',
      beforeMessage: () => ({ verdict: 'hold', reason: 'rate-limit', resumeOn: { on: 'after', ms: 60_000 } }),
    };
    const Full = defineActor('full', {
      handlers: {
        watch(ctx, ref: AnyRef) {
          ctx.watch(ref);
        },
        take() {},
      },
      terminated() {
        notices += 1;
      },
      mailbox: { capacity: 1, overflow: 'reject' },
    });
    const watched = world.system.spawn(Watcher);
    const full = world.system.spawn(Full);
    await world.tell(full).watch(watched);
    const token = world.system.suspend(full);
    for (let i = 0; i < 100; i += 1) full.tell.take();
    await world.settle(world.system.stop(watched));
    assert.is(notices, 1);
    token.resume();

    const Throttled = defineActor('throttled', {
      state: (args: { ref: AnyRef }) => args,
      handlers: { take() {} },
      started(ctx) {
        ctx.watch(ctx.state.ref);
      },
      terminated() {
        notices += 1;
      },
      middleware: [hold],
    });
    const second = world.system.spawn(Watcher);
    const throttled = world.system.spawn(Throttled, { args: { ref: second } });
    await world.tell(throttled).take();
    assert.is(world.system.inspect({ under: throttled }).handled, 0);
    await world.settle(world.system.stop(second));
    assert.is(notices, 2);
  },
);

otherRuntimes(
  'a watcher that fails in `terminated` delays neither the end nor the other watchers',
  async () => {
    await using world = createTestSystem({ supervise: { decide: () => 'stop' } });
    const Failing = defineActor('failing', {
      handlers: {
        watch(ctx, ref: AnyRef) {
          ctx.watch(ref);
        },
      },
      terminated: boom,
    });
    const watched = world.system.spawn(Watcher, { name: 'watched' });
    const [failing, working] = [world.system.spawn(Failing), world.system.spawn(Watcher)];
    failing.tell.watch(watched);
    working.tell.watch(watched);
    await world.settle();
    assert.is(await world.settle(world.system.stop(watched)), 'stopped');
    assert.equal(await world.ask(working).notices(), ['/watched stopped']);
    assert.is(failing.offer.watch(working), 'closed');
  },
);

// Bug: a message at the end of a turn waits for another message.

otherRuntimes('a message that arrives at the end of a turn is handled, in every order of turns', async () => {
  for (let seed = 0; seed < 50; seed += 1) {
    await using world = createTestSystem({ seed });
    const Relay = defineActor('relay', {
      state: () => ({ next: undefined as ActorRef<typeof Counter> | undefined }),
      handlers: {
        to(ctx, next: ActorRef<typeof Counter>) {
          ctx.state.next = next;
        },
        async go(ctx, n: number) {
          await Promise.resolve();
          ctx.state.next?.tell.add(n);
        },
      },
    });
    const Counter = defineActor('counter', {
      state: () => ({ n: 0 }),
      handlers: {
        add(ctx, by: number) {
          ctx.state.n += by;
        },
        get: (ctx) => ctx.state.n,
      },
      throughput: 1,
    });
    const counter = world.system.spawn(Counter);
    const relays = Array.from({ length: 5 }, () => world.system.spawn(Relay));
    for (const relay of relays) relay.tell.to(counter);
    for (let i = 0; i < 10; i += 1) for (const relay of relays) relay.tell.go(1);
    await world.settle();
    const n = counter.ask.get();
    assert.is(await world.settle(n), 50, `seed ${seed}`);
  }
});

// Bug: errors of middleware, listeners and routing functions reach the sender.

otherRuntimes('errors of middleware, listeners and routing functions never reach the sender', async () => {
  await using world = createTestSystem({ supervise: { decide: () => 'stop' } });
  const Target = defineActor('target', { handlers: { take() {} } });
  for (const hook of ['onSend', 'beforeMessage', 'afterMessage', 'beforeTurn', 'afterTurn'] as const) {
    const bad: Middleware = { name: `bad ${hook}`, [hook]: boom };
    const target = world.system.spawn(Target, { middleware: [bad] });
    target.tell.take();
    target.offer.take();
    void target.send.take();
    await world.settle();
  }
  world.system.subscribe(boom);
  world.system.spawn(Target).tell.take();
  const workers = world.system.spawnPool(Target, { size: 2, routing: { hash: boom } });
  await world.tell(workers).take();
  assert.is(world.system.stats().queued, 0);
});

otherRuntimes(
  'an actor whose turn hook always throws is given up, also with the directive resume',
  async () => {
    for (const hook of ['beforeTurn', 'afterTurn'] as const) {
      const world = createTestSystem({ supervise: { restarts: 3, decide: () => 'resume' } });
      const Target = defineActor('target', { handlers: { take() {} } });
      world.system.spawn(Target, { middleware: [{ name: 'bad', [hook]: boom }] }).tell.take();
      let steps = 0;
      while (steps < 1_000 && world.step()) steps += 1;
      assert.ok(steps < 1_000, hook);
      await world[Symbol.asyncDispose]();
    }
  },
);

// Bug: the context of one message leaks into another.

otherRuntimes('the context of one message is not visible to another message of the same turn', async () => {
  await using world = createTestSystem();
  let current = 'none';
  const seen: string[] = [];
  const tracing: Middleware = {
    name: 'tracing',
    onSend: () => current,
    beforeMessage: (message) => {
      seen.push(`${String(message.payload)}:${String(message.context)}`);
      return undefined;
    },
  };
  const Target = defineActor('target', { handlers: { take(_ctx, _n: number) {} } });
  const target = world.system.spawn(Target, { middleware: [tracing] });
  for (const [n, trace] of ['a', 'b', 'c'].entries()) {
    current = trace;
    target.tell.take(n);
  }
  current = 'another trace';
  await world.settle();
  assert.equal(seen, ['0:a', '1:b', '2:c']);
});

// Bug: a watch across systems is never notified.

otherRuntimes('a watch across systems is notified', async () => {
  await using here = createTestSystem({ name: 'here' });
  await using there = createTestSystem({ name: 'there' });
  const watcher = here.system.spawn(Watcher);
  const watched = there.system.spawn(Watcher, { name: 'watched' });
  await here.tell(watcher).watch(watched);
  await there.settle(there.system.stop(watched));
  assert.equal(await here.ask(watcher).notices(), ['/watched stopped']);
});

// Bug: a shutdown under load hangs or loses messages.

otherRuntimes(
  'a shutdown under load ends in time, and every message is handled or a dead letter',
  async () => {
    const system = createSystem({ warn: false });
    let sent = 0;
    const Flood = defineActor('flood', {
      handlers: {
        flood(ctx, peers: readonly ActorRef<typeof Target>[]) {
          for (const peer of peers) {
            peer.tell.take();
            sent += 1;
          }
          sent += 1;
          Flood.self(ctx).tell.flood(peers);
        },
      },
    });
    const Target = defineActor('target', { handlers: { take() {} } });
    const peers = Array.from({ length: 50 }, () => system.spawn(Target));
    for (let i = 0; i < 20; i += 1) {
      system.spawn(Flood).tell.flood(peers);
      sent += 1;
    }
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    const startedAt = performance.now();
    const report = await system.shutdown({ withinMs: 500 });
    assert.ok(performance.now() - startedAt < 5_000);
    assert.is(report.handled + report.deadLetters, sent);
  },
);

// Bug: a burst loses or repeats messages at a batch limit.

otherRuntimes('every message of a burst is handled once, at every throughput', async () => {
  for (const throughput of [1, 2, 7, 300]) {
    await using world = createTestSystem();
    const seen: number[] = [];
    const Target = defineActor('target', {
      handlers: {
        take(_ctx, n: number) {
          seen.push(n);
        },
      },
      throughput,
    });
    const target = world.system.spawn(Target);
    for (let n = 0; n < 1_000; n += 1) target.tell.take(n);
    await world.settle();
    assert.equal(
      seen,
      Array.from({ length: 1_000 }, (_, n) => n),
    );
  }
});

// Bug: a suspension also stops signals.

otherRuntimes('between suspend and resume signals are handled and messages are not', async () => {
  await using world = createTestSystem();
  const events: RuntimeEvent[] = [];
  world.system.subscribe((event) => events.push(event));
  const lines: string[] = [];
  const Target = defineActor('target', {
    handlers: {
      watch(ctx, ref: AnyRef) {
        ctx.watch(ref);
      },
      take(_ctx, n: number) {
        lines.push(`message ${n}`);
      },
      rest(ctx) {
        ctx.suspend({ user: 'rest' }, { on: 'event', key: 'wake up' });
      },
    },
    terminated() {
      lines.push('signal');
    },
  });
  const watched = world.system.spawn(Watcher);
  const target = world.system.spawn(Target);
  target.tell.watch(watched);
  target.tell.rest();
  for (let n = 0; n < 10; n += 1) target.tell.take(n);
  await world.settle();
  void world.system.stop(watched);
  await world.advance(1_000);
  assert.equal(lines, ['signal']);
  assert.is(world.system.event('wake up'), 1);
  await world.settle();
  assert.is(lines.length, 11);
  const resumed = events.find((event) => event.kind === 'resumed');
  assert.equal(resumed?.kind === 'resumed' && resumed.ms, 1_000);
});

otherRuntimes.run();
