import { defineActor, MisuseError } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cellOf } from '../internals.js';

const phases = suite('phases');

function defineDoor(illegal: 'dead-letter' | 'stash') {
  return defineActor('door', {
    state: () => ({ seen: [] as string[] }),
    handlers: {
      knock: (ctx, n: number) => {
        ctx.state.seen.push(`knock ${n}`);
        return n;
      },
      fail: (): never => {
        throw new Error('x');
      },
      lost: (ctx) => ctx.become('nowhere' as 'closed'),
    },
    phases: {
      closed: {
        open(ctx) {
          ctx.state.seen.push('open');
          ctx.become('opened');
        },
      },
      opened: {
        walk: (ctx, n: number) => {
          ctx.state.seen.push(`walk ${n}`);
          return n;
        },
        close(ctx) {
          ctx.state.seen.push('close');
          ctx.become('closed');
        },
      },
    },
    illegal,
  });
}

function seenOf(ref: Parameters<typeof cellOf>[0]): string[] {
  return (cellOf(ref).state as { seen: string[] }).seen;
}

phases(
  'an actor begins in the first phase, and a message of another phase is a dead letter that fails its ask',
  async () => {
    await using test = createTestSystem();
    const letters: unknown[] = [];
    test.system.subscribe((event) => {
      if (event.kind === 'dead-letter') letters.push([event.letter.reason, event.letter.message]);
    });
    const ref = test.system.spawn(defineDoor('dead-letter'));
    ref.tell.walk(1);
    const asked = ref.ask
      .walk(2)
      .catch((error: { code: string; reason: string }) => [error.code, error.reason]);
    ref.tell.knock(3);
    ref.tell.open();
    ref.tell.walk(4);
    await test.settle();
    assert.equal(seenOf(ref), ['knock 3', 'open', 'walk 4']);
    assert.equal(letters, [
      ['illegal', 'walk'],
      ['illegal', 'walk'],
    ]);
    assert.equal(await asked, ['ERR_UNDELIVERED', 'not legal in phase closed']);
    const { handled, deadLetters } = test.system.stats();
    assert.equal([handled, deadLetters], [3, 2]);
  },
);

phases('with `illegal: "stash"` a message waits for its phase, in order, asks included', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(defineDoor('stash'));
  ref.tell.walk(1);
  const two = ref.ask.walk(2);
  ref.tell.knock(3);
  await test.settle();
  assert.is(test.system.stats().queued, 2);
  ref.tell.open();
  ref.tell.walk(4);
  const knocked = ref.ask.knock(5);
  await test.settle();
  assert.is(await two, 2);
  assert.is(await knocked, 5, 'an ask after a stashed one is answered');
  assert.equal(seenOf(ref), ['knock 3', 'open', 'walk 1', 'walk 2', 'walk 4', 'knock 5']);
});

phases('a restarted actor begins in the first phase', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(defineDoor('dead-letter'));
  ref.tell.open();
  ref.tell.fail();
  ref.tell.open();
  await test.settle();
  assert.equal(seenOf(ref), ['open']);
});

phases('`become` with an unknown phase is a failure that names the phase', async () => {
  await using test = createTestSystem();
  const errors: Error[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  await test.tell(test.system.spawn(defineDoor('stash'))).lost();
  assert.instance(errors[0], MisuseError);
  assert.match(errors[0]?.message ?? '', "become('nowhere')");
});

phases.run();
