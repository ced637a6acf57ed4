import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Middleware } from '@troupe/core';
import { createMiddlewareRig } from '@troupe/core/testing';
import { NamedLimits, rateLimit } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const limits = suite('rate limit');

// One token per message, not per turn.
limits('a hundred messages in one mailbox take a hundred tokens', async () => {
  const limit = rateLimit({ name: 'api', perSecond: 100, burst: 10 }, new NamedLimits());
  await using rig = createMiddlewareRig(limit);
  for (let i = 0; i < 100; i += 1) rig.ref.tell.work(i);
  await rig.settle();
  assert.is(rig.ran.length, 10);
  await rig.advance(500);
  assert.is(rig.ran.length, 60);
  await rig.advance(400);
  assert.equal(rig.ran, [...Array(100).keys()]);
  assert.is(limit.consumed, 100);
});

limits('an actor without a token is suspended until the exact time of the next token', async () => {
  const limit = rateLimit({ name: 'api', perSecond: 8, burst: 1 }, new NamedLimits());
  await using rig = createMiddlewareRig(limit);
  rig.ref.tell.work('first');
  rig.ref.tell.work('second');
  await rig.advance(124);
  assert.equal(rig.ran, ['first']);
  assert.equal(rig.suspensions, [{ reason: 'rate-limit', at: 0 }]);
  await rig.advance(1);
  assert.equal(rig.ran, ['first', 'second']);
});

limits('a message that another middleware refuses consumes no token', async () => {
  const limit = rateLimit({ name: 'api', perSecond: 1, burst: 1 }, new NamedLimits());
  const refuseNo: Middleware = {
    name: 'no',
    beforeMessage: ({ payload }) => (payload === 'no' ? { verdict: 'refuse', why: 'no' } : undefined),
  };
  await using rig = createMiddlewareRig([limit, refuseNo]);
  for (const payload of ['no', 'no', 'no', 'yes']) rig.ref.tell.work(payload);
  await rig.settle();
  assert.equal(rig.ran, ['yes']);
  assert.is(limit.consumed, 1);
  assert.is(limit.triggered, 0);
});

limits('a held message is counted as triggered at once and as consumed when it is handled', async () => {
  const limit = rateLimit({ name: 'api', perSecond: 10, burst: 1 }, new NamedLimits());
  await using rig = createMiddlewareRig(limit);
  rig.ref.tell.work(1);
  rig.ref.tell.work(2);
  await rig.settle();
  assert.equal([limit.consumed, limit.triggered], [1, 1]);
  await rig.advance(100);
  assert.equal([limit.consumed, limit.triggered], [2, 1]);
});

limits('instances with the same name share their tokens', async () => {
  const shared = new NamedLimits();
  const options = { name: 'api', perSecond: 10, burst: 4 };
  const one = rateLimit(options, shared);
  const two = rateLimit(options, shared);
  await using first = createMiddlewareRig(one);
  await using second = createMiddlewareRig(two);
  for (let i = 0; i < 5; i += 1) {
    first.ref.tell.work(i);
    second.ref.tell.work(i);
  }
  await first.settle();
  await second.settle();
  assert.is(first.ran.length + second.ran.length, 4);
  assert.is(one.consumed, 4);
  assert.is(two.consumed, 4);
});

limits('`per` gives each actor or each key its own bucket', async () => {
  const perActor = rateLimit({ name: 'a', perSecond: 1, burst: 1, per: 'actor' }, new NamedLimits());
  await using actors = createMiddlewareRig(perActor);
  actors.ref.tell.work('a');
  actors.spawn('b').tell.work('b');
  await actors.settle();
  assert.equal(actors.ran, ['a', 'b']);

  const perKey = rateLimit(
    {
      name: 'k',
      perSecond: 1,
      burst: 1,
      per: ({ payload }) => (payload === 'free' ? undefined : String(payload)),
    },
    new NamedLimits(),
  );
  await using keys = createMiddlewareRig(perKey);
  for (const key of ['x', 'y', 'free', 'free', 'x']) keys.ref.tell.work(key);
  await keys.settle();
  assert.equal(keys.ran, ['x', 'y', 'free', 'free']);
  await keys.advance(1_000);
  assert.equal(keys.ran.at(-1), 'x');
});

limits('beyond `keysMax` the least recently used bucket is forgotten', async () => {
  const limit = rateLimit(
    {
      name: 'k',
      perSecond: 0.001,
      burst: 1,
      per: ({ payload }) => String(payload),
      keysMax: 2,
      exceeded: 'refuse',
    },
    new NamedLimits(),
  );
  await using rig = createMiddlewareRig(limit);
  for (const key of ['a', 'a', 'b', 'c', 'a']) rig.ref.tell.work(key);
  await rig.settle();
  assert.equal(rig.ran, ['a', 'b', 'c', 'a']);
});

limits(
  '`exceeded: "refuse"` refuses instead of holding, and `messages` limits only those named',
  async () => {
    const limit = rateLimit({ name: 'r', perSecond: 1, exceeded: 'refuse' }, new NamedLimits());
    const others = rateLimit({ name: 'o', perSecond: 1, messages: ['other'] }, new NamedLimits());
    await using rig = createMiddlewareRig([others, limit]);
    for (let i = 0; i < 3; i += 1) rig.ref.tell.work(i);
    await rig.settle();
    assert.equal(rig.ran, [0]);
    assert.is(rig.deadLetters.length, 2);
    assert.is(others.consumed, 0);
  },
);

limits('impossible rates and names used with other numbers are refused', () => {
  for (const perSecond of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => rateLimit({ name: 'x', perSecond }, new NamedLimits()), /perSecond/);
  for (const burst of [0, 0.5, -1, Number.NaN])
    assert.throws(() => rateLimit({ name: 'x', perSecond: 1, burst }, new NamedLimits()), /burst/);
  assert.throws(() => rateLimit({ name: '', perSecond: 1 }, new NamedLimits()), /name/);
  const misspelt = { name: 'x', perSecond: 1, brust: 3 };
  assert.throws(() => rateLimit(misspelt, new NamedLimits()), /no such option/);
  const shared = new NamedLimits();
  rateLimit({ name: 'same', perSecond: 1 }, shared);
  assert.not.throws(() => rateLimit({ name: 'same', perSecond: 1 }, shared));
  assert.throws(() => rateLimit({ name: 'same', perSecond: 2 }, shared), /choose another name/);
});

limits('systems with different clocks can share a name without waiting for each other’s time', async () => {
  const shared = new NamedLimits();
  const handledAfter = async (ms: number): Promise<number> => {
    await using rig = createMiddlewareRig(rateLimit({ name: 'bank', perSecond: 1, burst: 1 }, shared));
    await rig.advance(ms);
    rig.ref.tell.work(1);
    rig.ref.tell.work(2);
    await rig.advance(1_000);
    return rig.ran.length;
  };
  assert.is(await handledAfter(100_000), 2);
  assert.is(await handledAfter(0), 2);
});

limits('options that are no object are refused with a typed error', () => {
  for (const options of [undefined, null, 5, []])
    assert.throws(() => rateLimit(options as never), /needed an object/);
});

limits('an unused name is freed by garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const shared = new NamedLimits();
  const rate = { msPerToken: 1, burst: 1 };
  shared.limit('gone', rate, 1);
  const kept = shared.limit('kept', rate, 1);
  const known = (shared as unknown as { readonly byName: ReadonlyMap<string, unknown> }).byName;
  for (let round = 0; round < 50 && known.size > 1; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal([...known.keys()], ['kept']);
  assert.is(shared.limit('kept', rate, 1), kept);
});

limits.run();
