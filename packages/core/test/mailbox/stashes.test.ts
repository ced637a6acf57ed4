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
  ref.tell.openNow();
  await test.settle();
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
  ref.tell.fail();
  await test.settle();
  assert.is(test.system.stats().queued, 2);
  const asked = ref.ask.put(3).catch((error: { code: string }) => error.code);
  await test.settle();
  void test.system.stop(ref);
  await test.settle();
  assert.equal(letters, [
    ['left-over', 1],
    ['left-over', 2],
    ['left-over', 3],
  ]);
  assert.is(await asked, 'ERR_UNDELIVERED');
  assert.is(test.system.stats().queued, 0);
});

stash('`stash` works only in a handler, before any await, and only with `stashMax`', async () => {
  await using test = createTestSystem();
  const errors: Error[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  test.system.spawn(Stashing).tell.tooLate();
  const Plain = defineActor('plain', { handlers: { put: (ctx) => ctx.stash() } });
  test.system.spawn(Plain).tell.put();
  await test.settle();
  assert.equal(
    errors.map((error) => error instanceof MisuseError),
    [true, true],
  );
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
  await test.settle();
  assert.is(await asked, 'ERR_ACTOR_FAILED');
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
  await test.settle();
  assert.is(await asked, 'ERR_ACTOR_FAILED');
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
