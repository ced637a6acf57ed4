import { createMiddlewareRig } from '@troupe/core/testing';
import { timeout } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const timeouts = suite('timeout');

timeouts('an asynchronous handler beyond its time limit is aborted and fails', async () => {
  let aborted = false;
  const limit = timeout({ withinMs: 100 });
  const handle = (payload: unknown, abort: AbortSignal): unknown =>
    payload === 'quick'
      ? Promise.resolve(payload)
      : new Promise((resolve) => {
          abort.addEventListener('abort', () => {
            aborted = true;
            resolve('late');
          });
        });
  await using rig = createMiddlewareRig(limit, { handle });
  const asked = rig.ref.ask.work('slow').catch((error: Error) => error);
  const quick = rig.ref.ask.work('quick');
  await rig.advance(99);
  assert.not.ok(aborted);
  await rig.advance(1);
  assert.ok(aborted);
  const error = (await asked) as Error & { cause?: { code?: string } };
  assert.is(error.cause?.code, 'ERR_HANDLER_TIMEOUT');
  assert.is(await quick, 'quick');
  assert.is(limit.timedOut, 1);
});

timeouts('a handler that settles in time leaves no timer behind', async () => {
  await using rig = createMiddlewareRig(timeout({ withinMs: 3_600_000 }), { handle: async () => undefined });
  await rig.tell(rig.ref).work(1);
  assert.is(rig.system.stats().timers, 0);
});

timeouts('a message can have a time limit of its own', async () => {
  const limit = timeout({ messages: { work: 10 } });
  await using rig = createMiddlewareRig(limit, { handle: () => new Promise(() => undefined) });
  rig.ref.tell.work(1);
  await rig.advance(10);
  assert.is(limit.timedOut, 1);
});

timeouts('impossible limits are refused', () => {
  for (const ms of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => timeout({ withinMs: ms }), /withinMs/);
  assert.throws(() => timeout({ messages: { work: -1 } }), /messages.work/);
  assert.throws(() => timeout({}), /withinMs, messages or both/);
});

timeouts.run();
