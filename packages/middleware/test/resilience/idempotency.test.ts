import type { MessageView } from '@troupe/core';
import { createMiddlewareRig } from '@troupe/core/testing';
import { idempotency } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const keys = suite('idempotency');

interface Order {
  readonly id?: string;
  readonly cents: number;
}
const key = ({ payload }: MessageView): string | undefined => (payload as Order).id;

keys('a message with a known key is answered with the earlier reply, without its handler', async () => {
  const seen = idempotency({ key });
  let balance = 0;
  await using rig = createMiddlewareRig(seen, {
    handle: (payload) => {
      balance += (payload as Order).cents;
      return balance;
    },
  });
  assert.equal(
    await rig.settle(
      Promise.all([
        rig.ref.ask.work({ id: 'a', cents: 5 }),
        rig.ref.ask.work({ id: 'a', cents: 5 }),
        rig.ref.ask.work({ id: 'b', cents: 1 }),
        rig.ref.ask.work({ cents: 1 }),
        rig.ref.ask.work({ cents: 1 }),
      ]),
    ),
    [5, 5, 6, 7, 8],
  );
  assert.is(seen.duplicates, 1);
});

keys('the key of a failed message is forgotten, so that the message can be sent again', async () => {
  const seen = idempotency({ key });
  let broken = true;
  await using rig = createMiddlewareRig(seen, {
    handle: () => {
      if (broken) throw new Error('no');
      return 'done';
    },
  });
  await rig.tell(rig.ref).work({ id: 'a', cents: 1 });
  broken = false;
  assert.is(await rig.ask(rig.ref).work({ id: 'a', cents: 1 }), 'done');
});

keys('a duplicate waits while another actor handles the first message', async () => {
  const seen = idempotency({ key });
  const release: ((value: string) => void)[] = [];
  await using rig = createMiddlewareRig(seen, {
    handle: () => new Promise((resolve) => release.push(resolve)),
  });
  const sibling = rig.spawn('sibling');
  const first = rig.ref.ask.work({ id: 'a', cents: 1 });
  const second = sibling.ask.work({ id: 'a', cents: 1 });
  await rig.advance(100);
  assert.is(release.length, 1);
  release[0]?.('once');
  await rig.advance(10);
  assert.equal(await Promise.all([first, second]), ['once', 'once']);
  assert.is(rig.ran.length, 1);
});

keys('remembered keys are bounded by count and by time', async () => {
  const seen = idempotency({ key, keysMax: 2, keepMs: 1_000 });
  await using rig = createMiddlewareRig(seen);
  for (const id of ['a', 'b', 'c', 'c', 'a']) rig.ref.tell.work({ id, cents: 1 });
  await rig.settle();
  assert.equal(
    rig.ran.map((order) => (order as Order).id),
    ['a', 'b', 'c', 'a'],
  );
  assert.is(seen.size, 2);
  await rig.advance(1_001);
  await rig.tell(rig.ref).work({ id: 'a', cents: 1 });
  assert.is(rig.ran.length, 5);
});

keys(
  'the key of a slow message is remembered from its end, also if other keys evicted it meanwhile',
  async () => {
    const release: (() => void)[] = [];
    const seen = idempotency({ key, keysMax: 2 });
    const handle = (order: unknown): unknown =>
      (order as Order).id === 'slow' ? new Promise<void>((resolve) => release.push(resolve)) : undefined;
    await using rig = createMiddlewareRig(seen, { handle });
    const sibling = rig.spawn('sibling');
    await rig.tell(rig.ref).work({ id: 'slow', cents: 1 });
    for (const id of ['a', 'b', 'c']) sibling.tell.work({ id, cents: 1 });
    await rig.settle();
    release[0]?.();
    await rig.settle();
    await rig.tell(rig.ref).work({ id: 'slow', cents: 1 });
    assert.is(rig.ran.length, 4);
    assert.is(seen.duplicates, 1);
  },
);

keys('impossible options are refused', () => {
  assert.throws(() => idempotency({ key, keysMax: 0 }), /keysMax/);
  assert.throws(() => idempotency({ key, keepMs: -1 }), /keepMs/);
  assert.throws(() => idempotency({ key: 'id' as never }), /idempotency.key/);
});

keys('a duplicate waits at most a minute for the first message', async () => {
  await using rig = createMiddlewareRig(idempotency({ key }), {
    handle: (payload) => ((payload as Order).cents === 1 ? new Promise(() => undefined) : 'second'),
  });
  const other = rig.spawn('other');
  await rig.tell(rig.ref).work({ id: 'a', cents: 1 });
  other.tell.work({ id: 'a', cents: 2 });
  await rig.advance(60_000);
  assert.is(rig.ran.length, 1);
  await rig.advance(20);
  assert.is(rig.ran.length, 2);
});

keys('actors share their keys, unless the key contains the path', async () => {
  const ranWith = async (own: boolean): Promise<number> => {
    const each = idempotency({ key: (message) => (own ? `${message.path} ${key(message)}` : key(message)) });
    await using rig = createMiddlewareRig(each);
    for (const ref of [rig.ref, rig.spawn('b'), rig.spawn('c')]) ref.tell.work({ id: 'x', cents: 1 });
    await rig.advance(100);
    return rig.ran.length;
  };
  assert.is(await ranWith(false), 1);
  assert.is(await ranWith(true), 3);
});

keys.run();
