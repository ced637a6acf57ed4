import {
  ActorFailedError,
  type AnyRef,
  AskCycleError,
  defineActor,
  type Ref,
  UndeliveredError,
} from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LinkedSystems, type LinkOptions } from './linked-systems.js';

const remote = suite('actors on other threads');

interface Peer {
  add(n: number): number;
  total(): number;
  crash(text: string): void;
  fail(): unknown;
  where(): string;
  path(): string;
  give(payload: { to: Ref<Peer>; n: number }): void;
  askOther(payload: { to: Ref<Peer> }): Promise<number>;
  watch(ref: AnyRef): void;
  link(ref: AnyRef): void;
  self(): AnyRef;
  wait(): Promise<void>;
  aborted(): string[];
  stop(): void;
  seen(): string[];
}

const Peer = defineActor.of<Peer>()('peer', {
  state: (args: { readonly first: number } | undefined) => ({
    total: args?.first ?? 0,
    seen: [] as string[],
    aborted: [] as string[],
  }),
  handlers: {
    add: (ctx, n) => {
      ctx.state.total += n;
      return ctx.state.total;
    },
    total: (ctx) => ctx.state.total,
    crash: (_ctx, text) => {
      throw new Error(text);
    },
    fail: (ctx) => ctx.fail('empty', 3),
    where: (ctx) => (ctx.self as AnyRef).id,
    path: (ctx) => ctx.self.path,
    give: (_ctx, { to, n }) => to.tell.add(n),
    askOther: (ctx, { to }) => ctx.ask(to).askOther({ to: ctx.self as Ref<Peer> }),
    watch: (ctx, ref) => ctx.watch(ref),
    link: (ctx, ref) => ctx.link(ref),
    self: (ctx) => ctx.self,
    wait: (ctx) =>
      new Promise((_, reject) => {
        const { signal, state } = ctx;
        signal.addEventListener('abort', () => {
          state.aborted.push(String(signal.reason));
          reject(signal.reason as Error);
        });
      }),
    aborted: (ctx) => ctx.state.aborted,
    stop: (ctx) => ctx.stop(),
    seen: (ctx) => ctx.state.seen,
  },
  terminated: (ctx, { ref, reason }) => {
    ctx.state.seen.push(`${ref.path} ${reason}`);
  },
});

async function linked(options: LinkOptions, body: (systems: LinkedSystems) => Promise<void>): Promise<void> {
  const systems = new LinkedSystems({ definitions: [Peer], ...options });
  await body(systems);
  await systems.close();
}

/** The result of an ask, when everything has settled. */
async function answer<T>(systems: LinkedSystems, reply: Promise<T>): Promise<T> {
  reply.catch(() => undefined);
  await systems.settle();
  return reply;
}

remote('a message is handled on the other thread, in the order of its sender, and an ask is answered', () =>
  linked({ seed: 7 }, async (systems) => {
    const ref = systems.main.system.spawn(Peer, { args: { first: 1 }, name: 'sum', on: 'thread-1' });
    for (let n = 1; n <= 500; n += 1) ref.tell.add(n);
    assert.is(await answer(systems, ref.ask.total()), 1 + (500 * 501) / 2);
    assert.is(await answer(systems, ref.ask.path()), '/sum');
    assert.is(await answer(systems, ref.ask.where()), ref.id);
    assert.is(systems.worlds[1]?.system.stats().handled, 503);
    assert.is(systems.main.system.stats().handled, 0);
  }));

remote('errors and expected failures cross', () =>
  linked({}, async (systems) => {
    const ref = systems.main.system.spawn(Peer, { on: 'any-thread' });
    const failed = await answer(systems, ref.ask.crash('no luck')).catch((error: unknown) => error);
    assert.instance(failed, ActorFailedError);
    assert.match((failed as Error).message, 'no luck');
    assert.equal({ ...((await answer(systems, ref.ask.fail())) as object) }, { failed: true, code: 'empty', detail: 3 });
  }));

remote('a failure is decided by the supervisor at home: restart, resume, stop', () =>
  linked({}, async (systems) => {
    const decided: string[] = [];
    const Boss = defineActor('boss', {
      handlers: { spawn: (ctx) => ctx.spawn(Peer, { on: 'thread-1', args: { first: 5 } }) as AnyRef },
      supervise: {
        decide: ({ error }) => {
          decided.push(error.message);
          return error.message as 'restart';
        },
      },
    });
    const boss = systems.main.system.spawn(Boss);
    const ref = (await answer(systems, boss.ask.spawn())) as Ref<Peer>;
    ref.tell.add(10);
    await systems.settle();
    ref.tell.crash('resume');
    ref.tell.add(1);
    assert.is(await answer(systems, ref.ask.total()), 16);
    ref.tell.crash('restart');
    ref.tell.add(2);
    assert.is(await answer(systems, ref.ask.total()), 7, 'a new state, and the messages behind the failure');
    ref.tell.crash('stop');
    await systems.settle();
    assert.equal(decided, ['resume', 'restart', 'stop']);
    const error = await answer(systems, ref.ask.total()).catch((reason: unknown) => reason);
    assert.instance(error, UndeliveredError);
  }));

remote('refs cross in payloads and lead from thread to thread, and back to the same ref at home', () =>
  linked({ threads: 3, seed: 3 }, async (systems) => {
    const { system } = systems.main;
    const local = system.spawn(Peer);
    const one = system.spawn(Peer, { on: 'thread-1' });
    const two = system.spawn(Peer, { on: 'thread-2' });
    one.tell.give({ to: two, n: 4 });
    one.tell.give({ to: local, n: 6 });
    await systems.settle();
    assert.is(await answer(systems, two.ask.total()), 4);
    assert.is(await answer(systems, local.ask.total()), 6);
    assert.is(await answer(systems, one.ask.self()), one);
    assert.is(Peer.is(await answer(systems, two.ask.self())), true);
  }));

remote('a watcher on another thread gets exactly one terminated signal', () =>
  linked({ threads: 3, seed: 11 }, async (systems) => {
    const { system } = systems.main;
    const watcher = system.spawn(Peer, { on: 'thread-1' });
    const victims = ['thread-1', 'thread-2', 'main'].map((on) => system.spawn(Peer, { on, name: `on-${on}` }));
    for (const victim of victims) watcher.tell.watch(victim);
    await systems.settle();
    const [a, b, c] = victims as [Ref<Peer>, Ref<Peer>, Ref<Peer>];
    a.tell.stop();
    void system.kill(b);
    void system.stop(c);
    await systems.settle();
    const seen = await answer(systems, watcher.ask.seen());
    assert.equal([...seen].sort(), ['/on-main stopped', '/on-thread-1 stopped', '/on-thread-2 killed']);
    watcher.tell.watch(b);
    await systems.settle();
    assert.is((await answer(systems, watcher.ask.seen())).length, 4, 'a watch of an ended actor');
  }));

remote('linked actors on two threads end together', () =>
  linked({ threads: 3 }, async (systems) => {
    const { system } = systems.main;
    for (const verb of ['stop', 'kill'] as const) {
      const one = system.spawn(Peer, { on: 'thread-1' });
      const two = system.spawn(Peer, { on: 'thread-2' });
      one.tell.link(two);
      await systems.settle();
      const ended = system[verb](two);
      await systems.settle();
      await ended;
      const reason = system.stop(one);
      await systems.settle();
      assert.is(await reason, 'stopped');
      assert.is(systems.worlds[1]?.system.stats().actors, 1, 'the guardian');
    }
  }));

remote('stop, drain and kill reach the actor, and resolve with the reason', () =>
  linked({}, async (systems) => {
    const { system } = systems.main;
    for (const [verb, reason] of [
      ['stop', 'stopped'],
      ['drain', 'drained'],
      ['kill', 'killed'],
    ] as const) {
      const ref = system.spawn(Peer, { on: 'thread-1' });
      ref.tell.add(1);
      const ended = system[verb](ref);
      await systems.settle();
      assert.is(await ended, reason);
      assert.is(systems.worlds[1]?.system.stats().actors, 1);
    }
  }));

remote('the deadline of an ask ends it on both threads, and a signal aborts its handler', () =>
  linked({}, async (systems) => {
    const { system } = systems.main;
    const ref = system.spawn(Peer, { on: 'thread-1' });
    const late = ref.with({ withinMs: 100 }).ask.wait();
    late.catch(() => undefined);
    await systems.advance(200);
    assert.match(String(await late.catch((error: unknown) => (error as { code: string }).code)), 'ERR_ASK_TIMEOUT');
    const controller = new AbortController();
    const given = ref.with({ signal: controller.signal }).ask.wait();
    given.catch(() => undefined);
    await systems.settle();
    controller.abort(new Error('not wanted'));
    await systems.settle();
    assert.match(String(await given.catch((error: unknown) => String(error))), 'not wanted');
    assert.is((await answer(systems, ref.ask.aborted())).length, 2);
  }));

remote('an ask that leads back to its asker over threads is refused', () =>
  linked({ threads: 3 }, async (systems) => {
    const { system } = systems.main;
    const one = system.spawn(Peer, { on: 'thread-1' });
    const two = system.spawn(Peer, { on: 'thread-2' });
    const error = await answer(systems, one.ask.askOther({ to: two })).catch((reason: unknown) => reason);
    let cause = error as Error;
    while (cause.cause instanceof Error) cause = cause.cause;
    assert.instance(cause, AskCycleError);
    assert.is(systems.host.now() < 1_000, true, 'at once');
  }));

remote('a payload that cannot be cloned refuses the ask, and makes a tell a dead letter', () =>
  linked({}, async (systems) => {
    const ref = systems.main.system.spawn(Peer, { on: 'thread-1' });
    const bad = { to: ref, n: () => 1 } as never;
    const error = await answer(systems, ref.ask.give(bad)).catch((reason: unknown) => reason);
    assert.match((error as Error).message, '.n');
    ref.tell.give(bad);
    await systems.settle();
    const letters = systems.main.eventsOf('dead-letter').map(({ letter }) => letter.reason);
    assert.equal(letters, ['not-cloneable', 'not-cloneable']);
    assert.throws(() => systems.main.system.spawn(Peer, { on: 'thread-1', args: (() => 1) as never }));
  }));

remote('a definition that the thread does not find is a failed start that is not tried again', () =>
  linked({ definitions: [] }, async (systems) => {
    const ref = systems.main.system.spawn(Peer, { on: 'thread-1' });
    const error = await answer(systems, ref.ask.total()).catch((reason: unknown) => reason);
    assert.instance(error, UndeliveredError);
    const [failed, ...more] = systems.main.eventsOf('failed');
    assert.is(failed?.directive, 'stop');
    assert.is(more.length, 0);
  }));

remote.run();
