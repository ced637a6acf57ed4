import { defineActor, type Middleware, MisuseError } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cellOf } from '../internals.js';

const stash = suite('stash');

const Stashing = defineActor('stashing', {
  state: () => ({ open: false, seen: [] as number[] }),
  handlers: {
    put(ctx, n: number) {
      if (ctx.state.open) ctx.state.seen.push(n);
      else ctx.stash();
      return n;
    },
    async later(ctx, n: number) {
      if (!ctx.state.open) {
        ctx.stash();
        return n;
      }
      ctx.state.seen.push(n);
      return n;
    },
    openNow(ctx) {
      ctx.state.open = true;
      ctx.unstash();
    },
    fail: (): never => {
      throw new Error('x');
    },
    async tooLate(ctx) {
      await Promise.resolve();
      ctx.stash();
    },
    stashAndReject: async (ctx): Promise<number> => {
      ctx.stash();
      throw new Error('after stash');
    },
  },
  stashMax: 3,
});

function seenOf(ref: Parameters<typeof cellOf>[0]): number[] {
  return (cellOf(ref).state as { seen: number[] }).seen;
}

const noopMiddleware = [{ name: 'noop', beforeMessage: () => undefined }];

async function inOrder(middleware: readonly Middleware[]): Promise<void> {
  await using test = createTestSystem({ middleware });
  const ref = test.system.spawn(Stashing);
  for (const n of [1, 2, 3]) ref.tell.put(n);
  await test.settle();
  assert.equal(
    [test.system.stats().handled, test.system.stats().queued],
    [0, 3],
    'set aside is queued, not handled',
  );
  ref.tell.openNow();
  ref.tell.put(4);
  await test.settle();
  assert.equal(seenOf(ref), [1, 2, 3, 4]);
  assert.equal([test.system.stats().handled, test.system.stats().queued], [5, 0]);
}

stash('stashed messages are handled before later ones, in order', () => inOrder([]));
stash('stashed messages are handled before later ones, in order, with middleware', () =>
  inOrder(noopMiddleware),
);

async function answered(middleware: readonly Middleware[]): Promise<void> {
  await using test = createTestSystem({ middleware });
  const ref = test.system.spawn(Stashing);
  const replies = [ref.ask.put(1), ref.ask.later(2)];
  await test.advance(10);
  await test.tell(ref).openNow();
  assert.equal(await Promise.all(replies), [1, 2]);
}

stash('a stashed ask is answered when it is handled', () => answered([]));
stash('a stashed ask is answered when it is handled, with middleware', () => answered(noopMiddleware));

async function full(middleware: readonly Middleware[]): Promise<void> {
  await using test = createTestSystem({ middleware });
  const errors: Error[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  const ref = test.system.spawn(Stashing);
  for (const n of [1, 2, 3, 4]) ref.tell.put(n);
  test.step();
  test.step();
  assert.instance(errors[0], MisuseError);
  assert.match(errors[0]?.message ?? '', 'stashMax');
  assert.equal([test.system.stats().handled, test.system.stats().queued], [1, 3]);
}

stash(
  'without `stashMax` a stash takes 1,000 messages, by tell and by ask, alone and in batches',
  async () => {
    const Undeclared = defineActor('undeclared', {
      state: () => ({ isOpen: false, seen: [] as number[] }),
      handlers: {
        put(ctx, n: number) {
          if (!ctx.state.isOpen) return ctx.stash();
          ctx.state.seen.push(n);
          return n;
        },
        async slow(ctx, n: number) {
          if (!ctx.state.isOpen) ctx.stash();
          await Promise.resolve();
          if (ctx.state.isOpen) ctx.state.seen.push(n);
        },
        open(ctx) {
          ctx.state.isOpen = true;
          ctx.unstash();
        },
        seen: (ctx) => ctx.state.seen,
      },
      mailbox: { capacity: 5_000 },
    });
    for (const first of ['tell', 'ask', 'async', 'batch'] as const) {
      await using test = createTestSystem();
      const ref = test.system.spawn(Undeclared);
      const answers: Promise<unknown>[] = [];
      if (first === 'ask') answers.push(ref.ask.put(1));
      else if (first === 'async') ref.tell.slow(1);
      else ref.tell.put(1);
      if (first !== 'batch') await test.settle();
      for (let n = 2; n <= 1_000; n += 1) ref.tell.put(n);
      await test.settle();
      assert.equal([test.system.stats().queued, test.system.stats().handled], [1_000, 0], first);
      ref.tell.open();
      assert.equal(
        await test.ask(ref).seen(),
        Array.from({ length: 1_000 }, (_, n) => n + 1),
        first,
      );
      assert.is(test.system.stats().queued, 0, first);
      if (first === 'ask') assert.is(await answers[0], 1);
      assert.is(test.eventsOf('failed').length, 0, first);
    }
  },
);

stash('without `stashMax` message 1,001 is refused with a typed failure', async () => {
  const Shut = defineActor('shut', {
    handlers: { put: (ctx, _n: number) => ctx.stash() },
    mailbox: { capacity: 5_000 },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Shut);
  for (let n = 0; n < 1_001; n += 1) ref.tell.put(n);
  while (test.eventsOf('failed').length === 0) test.step();
  assert.match(test.eventsOf('failed')[0]?.error.message ?? '', /1000 messages are stashed already/);
});

stash(
  'a handler may stash and unstash its message at once, and fail after it, on the fast path',
  async () => {
    let runs = 0;
    const Quick = defineActor('quick', {
      state: () => ({ seen: [] as number[] }),
      handlers: {
        again(ctx, n: number) {
          runs += 1;
          if (runs === 1) {
            ctx.stash();
            ctx.unstash();
          } else ctx.state.seen.push(n);
        },
        torn(ctx, _n: number): void {
          ctx.stash();
          throw new Error('after stash');
        },
        next: (ctx, n: number) => void ctx.state.seen.push(n),
        seen: (ctx) => ctx.state.seen,
      },
    });
    await using test = createTestSystem();
    const ref = test.system.spawn(Quick);
    ref.tell.again(1);
    ref.tell.next(2);
    assert.equal(await test.ask(ref).seen(), [1, 2]);
    assert.is(test.system.stats().handled, 3);
    const torn = test.system.spawn(Quick);
    torn.tell.torn(1);
    torn.tell.next(2);
    assert.equal(await test.ask(torn).seen(), [2], 'a message that failed does not run again');
    assert.is(test.system.stats().queued, 0);
  },
);

stash('a full stash is a typed failure, and no message is lost', () => full([]));
stash('a full stash is a typed failure, and no message is lost, with middleware', () => full(noopMiddleware));

stash('a restart returns stashed messages to the mailbox, a stop makes dead letters of them', async () => {
  await using test = createTestSystem();
  const letters: unknown[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'dead-letter') letters.push([event.letter.reason, event.letter.payload]);
  });
  const ref = test.system.spawn(Stashing);
  for (const n of [1, 2]) ref.tell.put(n);
  await test.settle();
  await test.tell(ref).fail();
  assert.is(test.system.stats().queued, 2);
  const asked = ref.ask.put(3).catch((error: { code: string }) => error.code);
  await test.settle();
  await test.settle(test.system.stop(ref));
  assert.equal(letters, [
    ['left-over', 1],
    ['left-over', 2],
    ['left-over', 3],
  ]);
  assert.is(await asked, 'ERR_UNDELIVERED');
  assert.is(test.system.stats().queued, 0);
});

stash('`stash` works only in a handler and before any await', async () => {
  await using test = createTestSystem();
  const errors: Error[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  test.system.spawn(Stashing).tell.tooLate();
  const Plain = defineActor('plain', {
    handlers: {
      put: () => undefined,
      async tooLate(ctx) {
        await Promise.resolve();
        ctx.stash();
      },
    },
    started: (ctx) => ctx.stash(),
    supervise: { restarts: 0 },
  });
  const plain = test.system.spawn(Plain);
  plain.tell.put();
  plain.tell.tooLate();
  await test.settle();
  assert.ok(errors.length > 2);
  assert.ok(errors.slice(0, 2).every((error) => error instanceof MisuseError));
});

stash('a handler that stashes and then rejects has failed, and its message was handled', async () => {
  await using test = createTestSystem();
  const errors: Error[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  const ref = test.system.spawn(Stashing);
  const asked = ref.ask.stashAndReject().catch((error: { code: string }) => error.code);
  ref.tell.stashAndReject();
  assert.is(await test.settle(asked), 'ERR_ACTOR_FAILED');
  assert.equal(
    errors.map((error) => error.message),
    ['after stash', 'after stash'],
  );
  assert.equal([test.system.stats().handled, test.system.stats().queued], [2, 0]);
});

async function thrownAfterStash(middleware: readonly Middleware[]): Promise<void> {
  await using test = createTestSystem({ middleware, supervise: { restarts: 10 } });
  let runs = 0;
  const Torn = defineActor('torn', {
    handlers: {
      put(ctx, _n: number): number {
        runs += 1;
        ctx.stash();
        throw new Error('after stash');
      },
      keep: (ctx, _n: number) => ctx.stash(),
      fail: (): never => {
        throw new Error('x');
      },
    },
    stashMax: 3,
  });
  const ref = test.system.spawn(Torn);
  const asked = ref.ask.put(1).catch((error: { code: string }) => error.code);
  ref.tell.put(2);
  assert.is(await test.settle(asked), 'ERR_ACTOR_FAILED');
  assert.is(runs, 2);
  assert.equal([test.system.stats().handled, test.system.stats().queued], [2, 0]);
  ref.tell.keep(3);
  ref.tell.fail();
  await test.settle();
  assert.is(test.system.stats().queued, 1, 'a failure removes only its own message');
}

stash('a message that is stashed and then fails was handled and does not run again', () =>
  thrownAfterStash([]),
);
stash('a message that is stashed and then fails was handled and does not run again, with middleware', () =>
  thrownAfterStash(noopMiddleware),
);

stash.run();
