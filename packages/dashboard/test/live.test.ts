import type { Client, LeaderOverview } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { liveResponse } from '#src/live/event-stream.js';
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
  let notify: (change: LiveChange) => void = () => undefined;
  let isFollowed = true;
  const follow: LiveOverview['follow'] = (listener) => {
    notify = listener;
    return () => {
      isFollowed = false;
    };
  };
  liveResponse({ follow } as LiveOverview, new AbortController().signal);
  for (let n = 0; n < 1_000 && isFollowed; n += 1) notify({ kind: 'away' });
  assert.not(isFollowed);
});

live.run();
