import {
  type ActorRef,
  type ClassContext,
  defineActor,
  fromActor,
  fromClass,
  fromGenerator,
  fromReducer,
  MisuseError,
  OptionError,
  StaleContextError,
  toActor,
  UndeliveredError,
} from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const adapt = suite('adapters');

type Change = { readonly kind: 'add'; readonly n: number } | { readonly kind: 'clear' };
const Tally = fromReducer(
  'tally',
  (args: { from: number }) => args.from,
  (n: number, change: Change) => (change.kind === 'add' ? n + change.n : 0),
);

adapt('a reducer becomes an actor', async () => {
  await using world = createTestSystem();
  const tally = world.system.spawn(Tally, { args: { from: 5 } });
  tally.tell.dispatch({ kind: 'add', n: 2 });
  const seven = tally.ask.get();
  tally.tell.dispatch({ kind: 'clear' });
  const none = tally.ask.get();
  await world.settle();
  assert.is(await seven, 7);
  assert.is(await none, 0);
});

class Basket {
  protected readonly items: string[] = [];
  readonly owner: string;
  constructor(args: { owner: string }) {
    this.owner = args.owner;
  }
  get size(): number {
    return this.items.length;
  }
  put(item: string): void {
    if (item === 'bomb') throw new Error('bomb');
    this.items.push(item);
  }
  list(): readonly string[] {
    return this.items;
  }
  async count(): Promise<number> {
    return this.items.length;
  }
  move(_from: string, _to: string): void {}
}
class NamedBasket extends Basket {
  who(): string {
    return this.owner;
  }
}

adapt('a class becomes an actor, inherited methods included', async () => {
  const Actor = fromClass('basket', NamedBasket, { mailbox: { capacity: 10 } });
  await using world = createTestSystem();
  const basket = world.system.spawn(Actor, { args: { owner: 'ann' } });
  basket.tell.put('apple');
  const [list, count, who] = [basket.ask.list(), basket.ask.count(), basket.ask.who()];
  await world.settle();
  assert.equal(await list, ['apple']);
  assert.is(await count, 1);
  assert.is(await who, 'ann');
  basket.tell.put('bomb');
  assert.equal(await world.ask(basket).list(), []);
  assert.not('move' in basket.tell);
  assert.not('size' in basket.tell);
});

class Reminder {
  readonly reminded: string[] = [];
  private readonly ctx: ClassContext<Reminder>;
  private readonly store: ActorRef<typeof Store>;
  constructor(args: { readonly stale: ClassContext<Reminder>[] }, ctx: ClassContext<Reminder>) {
    this.ctx = ctx;
    this.store = ctx.spawn(Store, { name: 'store' });
    args.stale.push(ctx);
  }
  remind(text: string): void {
    this.ctx.after(100, this.ctx.self).note(text);
  }
  async note(text: string): Promise<void> {
    if (text === 'bomb') throw new Error('bomb');
    this.reminded.push(`${await this.ctx.ask(this.store).upper(text)} at ${this.ctx.now()}`);
  }
  path(): string {
    return this.ctx.path;
  }
}
const Store = defineActor('store', { handlers: { upper: (_ctx, text: string) => text.toUpperCase() } });

adapt(
  'the constructor of a class actor gets the context, and a restart gives a new object a new one',
  async () => {
    const contexts: ClassContext<Reminder>[] = [];
    const Actor = fromClass('reminder', Reminder);
    await using world = createTestSystem();
    const reminder = world.system.spawn(Actor, { args: { stale: contexts }, name: 'reminder' });
    reminder.tell.remind('tea');
    await world.advance(100);
    assert.equal(world.stateOf(Actor, reminder).reminded, ['TEA at 100']);
    assert.is(await world.ask(reminder).path(), '/reminder');
    reminder.tell.note('bomb');
    reminder.tell.note('coffee');
    await world.settle();
    assert.equal(world.stateOf(Actor, reminder).reminded, ['COFFEE at 100']);
    const [before, after] = contexts;
    assert.is(contexts.length, 2);
    assert.throws(
      () => before?.spawn(Store),
      (error: unknown) => error instanceof StaleContextError,
    );
    assert.is(after?.children.length, 1);
  },
);

adapt('a constructor that throws is a failure of the actor', async () => {
  class Broken {
    constructor() {
      throw new Error('no');
    }
    work(): void {}
  }
  await using world = createTestSystem({ supervise: { decide: () => 'stop' } });
  world.system.spawn(fromClass('broken', Broken));
  await world.settle();
  assert.is(world.eventsOf('failed')[0]?.message, 'state');
});

adapt('a class without methods is refused', () => {
  class Nothing {}
  assert.throws(
    () => fromClass('nothing', Nothing),
    (error: unknown) => error instanceof MisuseError,
  );
});

adapt(
  'an async generator becomes an actor: its local variables are the state, a yield is a reply',
  async () => {
    const ended: string[] = [];
    const Average = fromGenerator('average', async function* () {
      let [sum, count] = [0, 0];
      try {
        for (;;) {
          const n: number = yield count === 0 ? 0 : sum / count;
          if (n < 0) throw new Error('negative');
          if (n === 0) return;
          sum += n;
          count += 1;
        }
      } finally {
        ended.push('finally');
      }
    });
    await using world = createTestSystem();
    const average = world.system.spawn(Average);
    const replies = [average.ask.next(4), average.ask.next(8)];
    assert.equal(await world.settle(Promise.all(replies)), [4, 6]);
    const failed = average.ask.next(-1).catch((error: { code?: string }) => error.code);
    const fresh = average.ask.next(10);
    await world.settle();
    assert.is(await failed, 'ERR_ACTOR_FAILED');
    assert.is(await fresh, 10);
    assert.is(await world.ask(average).next(0), undefined);
    assert.is(average.offer.next(1), 'closed');
    assert.equal(ended, ['finally', 'finally']);
  },
);

adapt('a stop runs the `finally` block of a generator that waits for its next message', async () => {
  let ended = false;
  const Loop = fromGenerator('loop', async function* () {
    try {
      for (;;) {
        const message: string = yield 'ok';
        void message;
      }
    } finally {
      ended = true;
    }
  });
  await using world = createTestSystem();
  const loop = world.system.spawn(Loop);
  await world.settle();
  await world.settle(world.system.stop(loop));
  assert.is(ended, true);
});

const gates: (() => void)[] = [];
const Slow = defineActor('slow', {
  state: () => ({ seen: [] as number[] }),
  handlers: {
    async take(ctx, n: number) {
      await new Promise<void>((resolve) => gates.push(resolve));
      ctx.state.seen.push(n);
    },
    seen: (ctx) => ctx.state.seen,
  },
  mailbox: { capacity: 2 },
});

adapt('a source is read no faster than its actor has room', async () => {
  gates.length = 0;
  let asked = 0;
  async function* numbers() {
    for (let n = 0; n < 10; n += 1) {
      asked += 1;
      yield n;
    }
  }
  await using world = createTestSystem();
  const slow = world.system.spawn(Slow);
  const sent = toActor(numbers(), slow, 'take');
  await world.settle();
  const atFirst = asked;
  assert.ok(atFirst <= 5, `asked for ${atFirst}`);
  for (let i = 0; i < 10; i += 1) {
    gates.shift()?.();
    await world.settle();
  }
  assert.is(await sent, 10);
  assert.equal(await world.ask(slow).seen(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

adapt('a source is closed when its actor stops and when the signal fires', async () => {
  gates.length = 0;
  const closed: string[] = [];
  async function* endless(name: string) {
    try {
      for (let n = 0; ; n += 1) yield n;
    } finally {
      closed.push(name);
    }
  }
  await using world = createTestSystem();
  const slow = world.system.spawn(Slow);
  const broken = toActor(endless('stopped'), slow, 'take').catch((error: unknown) => error);
  await world.settle();
  await world.settle(world.system.kill(slow));
  assert.instance(await broken, UndeliveredError);
  const abort = new AbortController();
  const other = world.system.spawn(Slow);
  const ended = toActor(endless('aborted'), other, 'take', { signal: abort.signal });
  await world.settle();
  abort.abort();
  gates.splice(0).forEach((open) => {
    open();
  });
  await world.settle();
  gates.splice(0).forEach((open) => {
    open();
  });
  assert.type(await world.settle(ended), 'number');
  assert.equal(closed, ['stopped', 'aborted']);
});

adapt('an inbox yields messages in order, and its loop ends with the actor', async () => {
  await using world = createTestSystem();
  const inbox = fromActor<number>(world.system, { name: 'inbox', capacity: 2 });
  const read: number[] = [];
  const reading = (async () => {
    for await (const n of inbox) read.push(n);
  })();
  const writing = (async () => {
    for (let n = 0; n < 20; n += 1) await inbox.ref.send.put(n);
    await inbox.ref.send.end();
  })();
  await world.settle(Promise.all([reading, writing]));
  assert.equal(
    read,
    Array.from({ length: 20 }, (_, n) => n),
  );
});

adapt('a slow reader of an inbox holds back its senders', async () => {
  await using world = createTestSystem();
  const inbox = fromActor<number>(world.system, { capacity: 2 });
  const answers: string[] = [];
  for (let n = 0; n < 8; n += 1) {
    answers.push(inbox.ref.offer.put(n));
    await world.settle();
  }
  assert.equal(answers, ['accepted', 'accepted', 'accepted', 'accepted', 'full', 'full', 'full', 'full']);
  assert.equal(await inbox.next(), { done: false, value: 0 });
  await world.settle();
  assert.is(inbox.ref.offer.put(8), 'accepted');
});

adapt('leaving the loop of an inbox stops its actor', async () => {
  await using world = createTestSystem();
  const inbox = fromActor<number>(world.system);
  inbox.ref.tell.put(1);
  inbox.ref.tell.put(2);
  await world.settle();
  for await (const n of inbox) {
    assert.is(n, 1);
    break;
  }
  await world.settle();
  assert.is(inbox.ref.offer.put(3), 'closed');
  assert.throws(
    () => fromActor(world.system, { capacity: 0 }),
    (error: unknown) => error instanceof OptionError,
  );
});

adapt('the reader of an inbox gets an error when its actor is killed', async () => {
  await using world = createTestSystem();
  const inbox = fromActor<number>(world.system);
  const next = inbox.next();
  await world.settle(world.system.kill(inbox.ref));
  assert.equal(await next, { done: true, value: undefined });
});

adapt('a transfer can be aborted while it waits for room', async () => {
  await using world = createTestSystem();
  const Full = defineActor('full', {
    handlers: { take: (_ctx, _n: number) => new Promise<void>(() => undefined) },
    mailbox: { capacity: 2, overflow: 'reject' },
  });
  const full = world.system.spawn(Full);
  const abort = new AbortController();
  const transfer = toActor([1, 2, 3, 4, 5, 6], full, 'take', { signal: abort.signal });
  await world.settle();
  abort.abort();
  assert.is(await transfer, 3);
  await world.settle(world.system.kill(full));
});

adapt(
  'an item that waits for room when its transfer is aborted is not delivered, to an actor or a pool',
  async () => {
    for (const isPool of [false, true]) {
      gates.length = 0;
      await using world = createTestSystem();
      const slow = isPool ? world.system.spawnPool(Slow, { size: 1 }) : world.system.spawn(Slow);
      const abort = new AbortController();
      const transfer = toActor([0, 1, 2, 3, 4, 5], slow, 'take', { signal: abort.signal });
      await world.settle();
      abort.abort();
      const sent = await transfer;
      const after = slow.send.take(100);
      for (let i = 0; i < 8; i += 1) {
        gates.shift()?.();
        await world.settle();
      }
      await after;
      assert.equal(await world.ask(slow).seen(), [...Array.from({ length: sent }, (_, n) => n), 100]);
    }
  },
);

adapt('a transfer with a signal still rejects when its actor stops', async () => {
  gates.length = 0;
  await using world = createTestSystem();
  const slow = world.system.spawn(Slow);
  const { signal } = new AbortController();
  const broken = toActor([0, 1, 2, 3, 4, 5], slow, 'take', { signal }).catch((error: unknown) => error);
  await world.settle();
  await world.settle(world.system.kill(slow));
  assert.instance(await broken, UndeliveredError);
});

adapt('an unknown option of an inbox is refused', async () => {
  await using world = createTestSystem();
  assert.throws(
    () => fromActor(world.system, { capacty: 4 } as never),
    (error: unknown) => error instanceof OptionError,
  );
});

adapt.run();
