import {
  ActorFailedError,
  type AnyRef,
  AskCycleError,
  child,
  defineActor,
  type Ref,
  supervisor,
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

const Finder = defineActor('finder', {
  state: () => ({ seen: [] as string[] }),
  handlers: {
    find: (ctx, path: string): AnyRef | undefined => ctx.lookup(Peer, path),
    spawn: (ctx, name: string): AnyRef => ctx.spawn(Peer, { name }),
    watch(ctx, path: string) {
      ctx.watchName(Peer, path, (ref) => ctx.state.seen.push(ref === undefined ? 'nothing' : String(ref)));
    },
    seen: (ctx) => ctx.state.seen,
  },
});

/** Takes few messages at a time. */
const Narrow = defineActor('narrow', {
  state: () => [] as number[],
  mailbox: { capacity: 4 },
  handlers: {
    take(ctx, n: number) {
      ctx.state.push(n);
    },
    taken: (ctx) => ctx.state,
  },
});

/** Its turns end with messages left, some of them below the low-water mark. */
const Sliced = defineActor('sliced', {
  state: () => [] as number[],
  mailbox: { capacity: 8 },
  throughput: 3,
  handlers: {
    take(ctx, n: number) {
      ctx.state.push(n);
    },
    taken: (ctx) => ctx.state,
  },
});

const Sender = defineActor('sender', {
  handlers: {
    send(_ctx, { to, n }: { to: Ref<{ take(n: number): void }>; n: number }) {
      to.tell.take(n);
    },
  },
});

const log: string[] = [];

const Logged = defineActor('logged', {
  state: (name: string) => ({ name }),
  handlers: {
    crash() {
      throw new Error('crash');
    },
  },
  started: (ctx) => void log.push(`start ${ctx.state.name}`),
  restarting: (ctx) => void log.push(`rest ${ctx.state.name}`),
});

const Group = defineActor('group', {
  state: () => ({ members: [] as AnyRef[] }),
  supervise: { strategy: 'one-for-all' },
  started: (ctx) => {
    ctx.state.members = ['a', 'b', 'c'].map((name, i) =>
      ctx.spawn(Logged, { args: name, on: i === 0 ? 'main' : `thread-${i}` }),
    );
  },
  handlers: { members: (ctx) => ctx.state.members },
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
  }),
);

remote('errors and expected failures cross', () =>
  linked({}, async (systems) => {
    const ref = systems.main.system.spawn(Peer, { on: 'any-thread' });
    const failed = await answer(systems, ref.ask.crash('no luck')).catch((error: unknown) => error);
    assert.instance(failed, ActorFailedError);
    assert.match((failed as Error).message, 'no luck');
    assert.equal(
      { ...((await answer(systems, ref.ask.fail())) as object) },
      { failed: true, code: 'empty', detail: 3 },
    );
  }),
);

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
  }),
);

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
  }),
);

remote('a watcher on another thread gets exactly one terminated signal', () =>
  linked({ threads: 3, seed: 11 }, async (systems) => {
    const { system } = systems.main;
    const watcher = system.spawn(Peer, { on: 'thread-1' });
    const victims = ['thread-1', 'thread-2', 'main'].map((on) =>
      system.spawn(Peer, { on, name: `on-${on}` }),
    );
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
  }),
);

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
  }),
);

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
  }),
);

remote('the deadline of an ask ends it on both threads, and a signal aborts its handler', () =>
  linked({}, async (systems) => {
    const { system } = systems.main;
    const ref = system.spawn(Peer, { on: 'thread-1' });
    const late = ref.with({ withinMs: 100 }).ask.wait();
    late.catch(() => undefined);
    await systems.advance(200);
    assert.match(
      String(await late.catch((error: unknown) => (error as { code: string }).code)),
      'ERR_ASK_TIMEOUT',
    );
    const controller = new AbortController();
    const given = ref.with({ signal: controller.signal }).ask.wait();
    given.catch(() => undefined);
    await systems.settle();
    controller.abort(new Error('not wanted'));
    await systems.settle();
    assert.match(String(await given.catch((error: unknown) => String(error))), 'not wanted');
    assert.is((await answer(systems, ref.ask.aborted())).length, 2);
  }),
);

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
  }),
);

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
  }),
);

remote('a definition that the thread does not find is a failed start that is not tried again', () =>
  linked({ definitions: [] }, async (systems) => {
    const ref = systems.main.system.spawn(Peer, { on: 'thread-1' });
    const error = await answer(systems, ref.ask.total()).catch((reason: unknown) => reason);
    assert.instance(error, UndeliveredError);
    const [failed, ...more] = systems.main.eventsOf('failed');
    assert.is(failed?.directive, 'stop');
    assert.is(more.length, 0);
  }),
);

remote('a name is known on all threads, and its watchers are called back', () =>
  linked({ threads: 3, definitions: [Peer, Finder] }, async (systems) => {
    const { system } = systems.main;
    const finder = system.spawn(Finder, { on: 'thread-1' });
    finder.tell.watch('sum');
    await systems.settle();
    const sum = system.spawn(Peer, { on: 'thread-2', name: 'sum' });
    const local = system.spawn(Peer, { name: 'local' });
    await systems.settle();
    assert.is(await answer(systems, finder.ask.find('sum')), sum);
    assert.is(await answer(systems, finder.ask.find('/local')), local);
    assert.is(await answer(systems, finder.ask.find('unknown')), undefined);
    void system.stop(sum);
    await systems.settle();
    assert.is(await answer(systems, finder.ask.find('sum')), undefined);
    assert.equal(await answer(systems, finder.ask.seen()), ['nothing', 'ref(/sum)', 'nothing']);
  }),
);

remote('a child on another thread has its path below its parent, and can be looked up at home', () =>
  linked({ definitions: [Finder, Peer] }, async (systems) => {
    const { system } = systems.main;
    const parent = system.spawn(Finder, { on: 'thread-1', name: 'parent' });
    const child = (await answer(systems, parent.ask.spawn('child'))) as Ref<Peer>;
    assert.is(child.path, '/parent/child');
    assert.is(system.lookup(Peer, 'parent/child'), child as never);
    child.tell.add(3);
    assert.is(await answer(systems, child.ask.total()), 3);
    assert.match(system.tree(), /parent \(finder\) on thread-1, idle/);
  }),
);

remote('siblings on several threads restart together: all rest before the first starts again', () =>
  linked({ threads: 3, seed: 5, definitions: [Logged] }, async (systems) => {
    log.length = 0;
    const boss = systems.main.system.spawn(Group);
    await systems.settle();
    const [first] = await answer(systems, boss.ask.members());
    log.length = 0;
    (first as Ref<{ crash(): void }>).tell.crash();
    await systems.settle();
    assert.equal(log.slice(0, 3), ['rest c', 'rest b', 'rest a']);
    assert.equal(log.slice(3).sort(), ['start a', 'start b', 'start c']);
  }),
);

remote('a permanent child that ends is started again, with its messages and its ref', () =>
  linked({}, async (systems) => {
    const ref = systems.main.system.spawn(Peer, { on: 'thread-1', restart: 'permanent', args: { first: 2 } });
    ref.tell.add(5);
    await systems.settle();
    ref.tell.stop();
    await systems.settle();
    assert.is(await answer(systems, ref.ask.total()), 2);
    assert.is(systems.worlds[1]?.system.stats().actors, 2, 'the guardian and the actor');
  }),
);

remote('a child of a supervision tree runs on its thread, also after a restart of its supervisor', () =>
  linked({}, async (systems) => {
    const { system } = systems.main;
    const top = supervisor('top', { restarts: 0 }, [
      child(Peer, { name: 'c', on: 'thread-1', args: { first: 4 } }),
    ]);
    const tree = system.start(top);
    const ref = tree.get(Peer);
    assert.is(await answer(systems, ref.ask.total()), 4);
    ref.tell.add(1);
    ref.tell.crash('escalates');
    await systems.settle();
    assert.is(await answer(systems, ref.ask.total()), 4, 'the same ref');
    assert.is(systems.worlds[1]?.system.stats().actors, 2, 'the guardian and the child');
  }),
);

remote('a suspended actor handles nothing until it is resumed', () =>
  linked({}, async (systems) => {
    const { system } = systems.main;
    const ref = system.spawn(Peer, { on: 'thread-1' });
    await systems.settle();
    const token = system.suspend(ref, 'maintenance');
    const reply = ref.ask.add(1);
    await systems.settle();
    assert.is(systems.worlds[1]?.system.stats().handled, 0);
    token.resume();
    assert.is(await answer(systems, reply), 1);
  }),
);

remote('a full mailbox pauses the proxies that send to it, and every message is handled once', () =>
  linked({ threads: 3, seed: 9, room: 20, definitions: [Peer, Narrow] }, async (systems) => {
    const { system } = systems.main;
    const narrow = system.spawn(Narrow, { on: 'thread-1' });
    await systems.settle();
    const held = system.suspend(narrow);
    const local = system.spawn(Sender);
    for (let n = 0; n < 500; n += 1) local.tell.send({ to: narrow, n });
    await systems.settle();
    assert.ok(systems.main.eventsOf('suspended').some(({ reason }) => reason === 'backpressure'));
    held.resume();
    await systems.advance(100);
    assert.equal(
      await answer(systems, narrow.ask.taken()),
      Array.from({ length: 500 }, (_, n) => n),
    );
    assert.is(conserved(systems), 500 + 1 + 500);
  }),
);

remote('offer and send answer for the proxy: full and waiting there, and nothing is lost or doubled', () =>
  linked({ threads: 2, seed: 4, definitions: [Narrow] }, async (systems) => {
    const { system } = systems.main;
    const narrow = system.spawn(Narrow, { on: 'thread-1' });
    await systems.settle();
    const held = system.suspend(narrow);
    await systems.settle();
    const offered: number[] = [];
    let refusals = 0;
    for (let n = 0; refusals < 3; n += 1) {
      if (narrow.offer.take(n) === 'accepted') offered.push(n);
      else refusals += 1;
      await systems.settle();
    }
    const sent = narrow.send.take(1_000);
    await systems.settle();
    let isSent = false;
    void sent.then(() => {
      isSent = true;
    });
    await systems.settle();
    assert.is(isSent, false, 'it waits for room in the proxy');
    held.resume();
    await systems.settle();
    await sent;
    assert.equal(await answer(systems, narrow.ask.taken()), [...offered, 1_000]);
    assert.is(system.stats().deadLetters, 0);
    const stopped = system.stop(narrow);
    await systems.settle();
    await stopped;
    assert.is(narrow.offer.take(1), 'closed');
    const late = narrow.send.take(1).catch((error: { readonly code: string }) => error.code);
    await systems.settle();
    assert.is(await late, 'ERR_UNDELIVERED');
  }),
);

remote(
  'a thread that ends: its actors restart, asks end at once, watchers and dead letters are complete',
  () =>
    linked({ threads: 3, seed: 2 }, async (systems) => {
      const { system } = systems.main;
      const one = system.spawn(Peer, { on: 'thread-1', args: { first: 8 }, name: 'one' });
      const two = system.spawn(Peer, { on: 'thread-2' });
      two.tell.watch(one);
      one.tell.add(1);
      await systems.settle();
      const open = one.ask.wait();
      open.catch(() => undefined);
      await systems.settle();
      one.tell.add(100);
      systems.turnsOfMain(3);
      systems.kill(1, new Error('thread-1 is gone'));
      await systems.settle();
      assert.match(await reasonOf(open), 'thread-1 is gone');
      assert.is(await answer(systems, one.ask.total()), 8, 'a new state');
      two.tell.give({ to: one, n: 1 });
      await systems.settle();
      assert.is(await answer(systems, one.ask.total()), 9, 'reached from a third thread');
      assert.equal(await answer(systems, two.ask.seen()), [], 'a restart is no end');
      const lost = systems.main.eventsOf('dead-letter').map(({ letter }) => `${letter.reason} ${letter.to}`);
      assert.equal(lost, ['thread-ended /one']);
      assert.is(systems.main.eventsOf('failed')[0]?.directive, 'restart');
    }),
);

remote('actors of a thread that had their supervisor on it end with it', () =>
  linked({ threads: 3, definitions: [Finder, Peer] }, async (systems) => {
    const { system } = systems.main;
    const parent = system.spawn(Finder, { on: 'thread-1' });
    const child = (await answer(systems, parent.ask.spawn('child'))) as Ref<Peer>;
    const watcher = system.spawn(Peer);
    watcher.tell.watch(child);
    await systems.settle();
    systems.kill(1, new Error('gone'));
    await systems.settle();
    assert.equal(await answer(systems, watcher.ask.seen()), [`${child.path} failed`]);
  }),
);

remote('dead letters and failures of other threads reach the listeners on the main thread', () =>
  linked({ definitions: [Finder, Peer] }, async (systems) => {
    const { system } = systems.main;
    const parent = system.spawn(Finder, { on: 'thread-1', name: 'parent' });
    const child = (await answer(systems, parent.ask.spawn('child'))) as Ref<Peer>;
    child.tell.crash('below');
    await systems.settle();
    assert.equal(
      systems.main.eventsOf('failed').map(({ path, error }) => `${path} ${error.message}`),
      ['/parent/child below'],
    );
    child.tell.stop();
    child.tell.add(5);
    await systems.settle();
    const letters = systems.main.eventsOf('dead-letter').map(({ letter }) => letter);
    assert.equal(
      letters.map(({ payload }) => payload),
      [5],
    );
    // Its thread knows the path of an ended actor until another has its place.
    assert.match(letters[0]?.to ?? '', /^(\/parent\/child|1:3\.0)$/);
  }),
);

remote('a third thread that a full mailbox has paused goes on when that thread was replaced', () =>
  linked({ threads: 3, definitions: [Narrow, Sender] }, async (systems) => {
    const { system } = systems.main;
    const narrow = system.spawn(Narrow, { on: 'thread-1' });
    const sender = system.spawn(Sender, { on: 'thread-2' });
    await systems.settle();
    const held = system.suspend(narrow);
    await systems.settle();
    for (let n = 0; n < 100; n += 1) sender.tell.send({ to: narrow, n });
    await systems.settle();
    assert.ok((systems.worlds[2]?.system.stats().queued ?? 0) > 0, 'its proxy is paused');
    held.resume();
    systems.kill(1, new Error('gone'));
    await systems.settle();
    assert.is(systems.worlds[2]?.system.stats().queued, 0);
    sender.tell.send({ to: narrow, n: 100 });
    await systems.settle();
    assert.is((await answer(systems, narrow.ask.taken())).at(-1), 100);
  }),
);

remote('a message that comes after its actor has failed to start is a dead letter, not kept for ever', () =>
  linked({ threads: 3, definitions: [Sender] }, async (systems) => {
    const { system } = systems.main;
    const never = system.spawn(Narrow, { on: 'thread-1' });
    const sender = system.spawn(Sender, { on: 'thread-2' });
    sender.tell.send({ to: never, n: 1 });
    await systems.settle();
    sender.tell.send({ to: never, n: 2 });
    await systems.settle();
    assert.is(conserved(systems), 4);
    assert.is(system.stats().deadLetters, 2, 'the main thread counts those of all threads');
  }),
);

remote('messages in the mailboxes of a thread that ends are counted as dead letters', () =>
  linked({}, async (systems) => {
    const { system } = systems.main;
    const ref = system.spawn(Peer, { on: 'thread-1' });
    await systems.settle();
    system.suspend(ref);
    for (let n = 0; n < 7; n += 1) ref.tell.add(n);
    await systems.settle();
    const thread = systems.worlds[1]?.system;
    const far = (thread?.stats().queued ?? 0) + (system.stats().queued ?? 0);
    assert.is(far, 7, 'in the mailboxes of proxy and actor');
    const before = thread?.stats().queued ?? 0;
    systems.kill(1, new Error('gone'));
    assert.is(system.stats().deadLetters, before);
  }),
);

remote(
  'inspectAll shows the actors of other threads with their children, and proxies where a thread is silent',
  () =>
    linked({ threads: 3, definitions: [Peer, Finder] }, async (systems) => {
      const { system } = systems.main;
      const finder = system.spawn(Finder, { on: 'thread-1', name: 'finder' });
      await answer(systems, finder.ask.spawn('below'));
      assert.equal(system.inspect().children[0]?.children, [], 'a proxy has no children here');
      const view = await answer(systems, system.inspectAll());
      const [shown] = view.children;
      assert.equal([shown?.path, shown?.thread, shown?.handled], ['/finder', 'thread-1', 1]);
      assert.equal(
        shown?.children.map(({ path, actor }) => `${path} ${actor}`),
        ['/finder/below peer'],
      );
      assert.match(
        await answer(systems, system.treeAll({ under: finder })),
        /finder on thread-1.*\n└─ below/,
      );
      const silent = system.inspectAll({ withinMs: 100 });
      systems.kill(1, new Error('the thread has ended'));
      await systems.advance(200);
      assert.is((await silent).children[0]?.path, '/finder');
    }),
);

remote('pools spread over threads by every router, and work is pulled across them', () =>
  linked({ threads: 3 }, async (systems) => {
    const { system } = systems.main;
    const pool = system.spawnPool(Peer, { size: 4, on: 'each-thread', args: () => undefined });
    const all = pool.gather().add(1);
    await systems.settle();
    assert.is((await all).length, 4);
    assert.equal(
      [1, 2].map((thread) => systems.worlds[thread]?.system.stats().actors),
      [3, 3],
    );
    const pull = system.spawnPool(Peer, {
      size: 2,
      on: 'each-thread',
      args: () => undefined,
      routing: { pull: { window: 1 } },
    });
    const replies = Promise.all(Array.from({ length: 20 }, () => pull.ask.add(1)));
    await systems.settle();
    const counts = await replies;
    assert.is(counts.filter((count) => count === 1).length, 2, 'both threads have pulled');
    assert.is(Math.max(...counts) < 20, true);
    const held = system.spawn(Peer, { on: 'thread-1' });
    held.tell.give({ to: pool as Ref<Peer>, n: 1 });
    await systems.settle();
    const totals = pool.gather().total();
    await systems.settle();
    assert.is((await totals).filter((one) => 'reply' in one && one.reply === 2).length, 1, 'a pool as a ref');
  }),
);

remote('order per pair, conservation and one end per watch, under 40 seeds', async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    await linked({ threads: 3, seed, room: 8, definitions: [Peer, Narrow] }, async (systems) => {
      const { system } = systems.main;
      const narrow = system.spawn(Narrow, { on: 'thread-1', name: 'narrow' });
      const watcher = system.spawn(Peer, { on: 'thread-2' });
      const senders = [system.spawn(Sender), system.spawn(Sender)];
      watcher.tell.watch(narrow);
      let sent = 1;
      for (let n = 0; n < 120; n += 1) {
        senders[n % 2]?.tell.send({ to: narrow, n });
        sent += 1;
      }
      systems.turnsOfMain(seed * 7);
      if (seed % 3 === 0) void system.stop(narrow);
      await systems.settle();
      const taken = seed % 3 === 0 ? [] : await answer(systems, narrow.ask.taken());
      for (const parity of [0, 1]) {
        const own = taken.filter((n) => n % 2 === parity);
        assert.equal(
          own,
          [...own].sort((a, b) => a - b),
          `seed ${seed}: order`,
        );
      }
      if (seed % 3 !== 0) assert.is(taken.length, 120, `seed ${seed}: all handled`);
      const seen = await answer(systems, watcher.ask.seen());
      assert.is(seen.length, seed % 3 === 0 ? 1 : 0, `seed ${seed}: one end`);
      // Each of 120 sends is one message to a sender and one to the receiver; and the asks of this test.
      assert.is(conserved(systems), sent + 120 + (seed % 3 === 0 ? 1 : 2), `seed ${seed}: conservation`);
    });
  }
});

remote('messages that waited in front of a full mailbox keep their order, under 20 seeds', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    await linked({ seed, definitions: [Sliced] }, async (systems) => {
      const sliced = systems.main.system.spawn(Sliced, { on: 'thread-1' });
      await systems.settle();
      for (let n = 0; n < 100; n += 1) sliced.tell.take(n);
      await systems.settle();
      assert.equal(
        await answer(systems, sliced.ask.taken()),
        Array.from({ length: 100 }, (_, n) => n),
        `seed ${seed}`,
      );
    });
  }
});

remote('the message history of a failure has the sends on both threads', () =>
  linked({ definitions: [Peer] }, async (systems) => {
    const { system } = systems.main;
    const sender = system.spawn(Peer, { name: 'sender' });
    const failing = system.spawn(Peer, { name: 'failing', on: 'thread-1' });
    await systems.settle();
    sender.tell.give({ to: failing, n: 1 });
    await systems.settle();
    failing.tell.crash('no luck');
    await systems.settle();
    const [failed] = systems.main.eventsOf('failed');
    assert.equal(failed?.messageHistory, [
      'outside → /sender.give',
      '/sender → /failing.add',
      'outside → /failing.crash',
      'outside → /failing.add',
      'outside → /failing.crash',
    ]);
  }),
);

/** Messages handled, queued and dead on all threads together. */
function conserved(systems: LinkedSystems): number {
  const { deadLetters } = systems.main.system.stats();
  return systems.worlds
    .map(({ system }) => system.stats())
    .reduce((sum, { handled, queued }) => sum + handled + queued, deadLetters);
}

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'not rejected',
    (error: unknown) => String(error),
  );
}

remote.run();
