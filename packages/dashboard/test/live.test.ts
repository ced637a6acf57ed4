import type { Client, LeaderOverview } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type LiveEvent, liveResponse } from '#src/live/event-stream.js';
import { LiveLooks, type LookChange } from '#src/live/live-looks.js';
import { type LiveChange, LiveOverview } from '#src/live/live-overview.js';

const live = suite('live overview');

/** A client whose looks are answered by hand. */
function clientOf(): { readonly client: Client; readonly looks: PromiseWithResolversOf<LeaderOverview>[] } {
  const looks: PromiseWithResolversOf<LeaderOverview>[] = [];
  const overview = (): Promise<LeaderOverview> => {
    const look = withResolvers<LeaderOverview>();
    looks.push(look);
    return look.promise;
  };
  return { client: { overview } as unknown as Client, looks };
}

interface PromiseWithResolversOf<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

function withResolvers<T>(): PromiseWithResolversOf<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

live('a page that comes while the leader is away is shown that at once', async () => {
  const { client, looks } = clientOf();
  const overview = new LiveOverview(client);
  const first: LiveChange[] = [];
  const leave = overview.follow((change) => first.push(change));
  looks[0]?.reject(new Error('away'));
  await settled();
  assert.equal(first, [{ kind: 'away' }]);
  const second: LiveChange[] = [];
  const leaveToo = overview.follow((change) => second.push(change));
  assert.equal(second, [{ kind: 'away' }]);
  leave();
  leaveToo();
});

live('an answer that comes after the last page has left is not the first of the next page', async () => {
  const { client, looks } = clientOf();
  const overview = new LiveOverview(client);
  overview.follow(() => undefined)();
  looks[0]?.resolve({ lsn: 1 } as LeaderOverview);
  await settled();
  const changes: LiveChange[] = [];
  const leave = overview.follow((change) => changes.push(change));
  looks[1]?.resolve({ lsn: 2 } as LeaderOverview);
  await settled();
  assert.equal(changes, [{ kind: 'overview', fields: { lsn: 2 } }]);
  leave();
});

live('a page that does not read is cut off, and later looks go on', () => {
  let notify: (event: LiveEvent) => void = () => undefined;
  let isFollowed = true;
  const follow = (listener: (event: LiveEvent) => void): (() => void) => {
    notify = listener;
    return () => {
      isFollowed = false;
    };
  };
  liveResponse(follow, new AbortController().signal);
  for (let n = 0; n < 1_000 && isFollowed; n += 1) notify({ kind: 'away' });
  assert.not(isFollowed);
});

/** Answers that are given by hand, each to the next look at the path. */
function looksOf(): {
  readonly looks: LiveLooks;
  readonly asked: ((value: object, status?: number) => Promise<void>)[];
} {
  const asked: ((value: object, status?: number) => Promise<void>)[] = [];
  const looks = new LiveLooks(() => {
    const { promise, resolve } = withResolvers<Response>();
    asked.push(async (value, status = 200) => {
      resolve(new Response(JSON.stringify(value), { status }));
      await settled();
    });
    return promise;
  });
  return { looks, asked };
}

const shortOf = ({ status, isWhole, fields, gone }: LookChange): readonly unknown[] => [
  status,
  isWhole ? 'whole' : 'changes',
  fields,
  gone,
];

live('an answer is looked at once for all its pages, and they are sent its changes alone', async () => {
  const { looks, asked } = looksOf();
  const first: LookChange[] = [];
  const second: LookChange[] = [];
  const leave = looks.follow('/api/queues', 1, (change) => first.push(change));
  await asked[0]?.({ a: 1, b: [2] });
  const leaveToo = looks.follow('/api/queues', 1, (change) => second.push(change));
  while (asked.length < 2) await settled();
  await asked[1]?.({ a: 1, b: [3] });
  while (asked.length < 3) await settled();
  await asked[2]?.({ a: 1, b: [3] });
  while (asked.length < 4) await settled();
  await asked[3]?.({ b: [3] });
  while (asked.length < 5) await settled();
  await asked[4]?.({ title: 'ERR_X' }, 503);
  assert.equal(first.map(shortOf), [
    [200, 'whole', { a: 1, b: [2] }, []],
    [200, 'changes', { b: [3] }, []],
    [200, 'changes', {}, ['a']],
    [503, 'whole', { title: 'ERR_X' }, []],
  ]);
  assert.equal(second.map(shortOf), first.map(shortOf));
  leave();
  leaveToo();
});

live('a change is looked at soon, and no look follows the last page', async () => {
  const { looks, asked } = looksOf();
  const leave = looks.follow('/api/queues', 3_600_000, () => undefined);
  await asked[0]?.({ a: 1 });
  looks.lookAgain();
  while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  looks.lookAgain();
  leave();
  await asked[1]?.({ a: 2 });
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.is(asked.length, 2);
});

live.run();
