import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FeedQueue } from '#src/worker/feed/feed-queue.js';
import { FeedQueues } from '#src/worker/feed/feed-queues.js';

const queues = suite('feed queue');

function fed(first: number, items: readonly string[], end?: 'final' | 'abandoned') {
  return { job: 7, attempt: 2, first, items, end };
}

queues(
  'items that come twice are taken once, and items behind a gap are left to the next request',
  async () => {
    const queue = new FeedQueue(7, 2);
    queue.push(fed(0, ['1', '2']));
    queue.push(fed(1, ['2', '3']));
    queue.push(fed(5, ['6']));
    assert.equal([await queue.next(), await queue.next(), await queue.next()], ['1', '2', '3']);
    assert.equal(queue.request, { job: 7, attempt: 2, received: 3, taken: 3 });
  },
);

queues('next waits for an item, and the end comes behind the items', async () => {
  const queue = new FeedQueue(7, 2);
  const waiting = queue.next();
  assert.not(queue.isReady);
  queue.push(fed(0, ['1', '2'], 'abandoned'));
  assert.is(await waiting, '1');
  assert.is(queue.end, 'abandoned');
  assert.is(await queue.next(), '2');
  assert.is(await queue.next(), undefined);
  assert.is(await queue.next(), undefined);
});

queues('an end whose items are not all here is not believed', () => {
  const queue = new FeedQueue(7, 2);
  queue.push(fed(3, ['4'], 'final'));
  assert.is(queue.end, undefined);
  queue.push(fed(0, ['1']));
  queue.push(fed(0, [], 'final'));
  assert.is(queue.end, undefined);
});

queues('an attempt that is over fails its loop, also where items are left', async () => {
  const queue = new FeedQueue(7, 2);
  queue.push(fed(0, ['1']));
  queue.fail(new Error('over'));
  assert.is(await queue.next().catch((error: Error) => error.message), 'over');
});

queues('the leader learns of every begin and of taken items, and of all in a new session', async () => {
  let reports = 0;
  const all = new FeedQueues(() => {
    reports += 1;
  });
  const queue = new FeedQueue(7, 2);
  all.add(queue);
  assert.equal(all.take(), [{ job: 7, attempt: 2, received: 0, taken: 0 }]);
  assert.equal(all.take(), []);
  all.push(fed(0, ['1', '2']));
  await queue.next();
  assert.equal(all.take(), [{ job: 7, attempt: 2, received: 2, taken: 1 }]);
  all.rewind();
  assert.is(all.take().length, 1);
  assert.is(reports, 2);
  all.remove(7, 2);
  await queue.next();
  assert.equal(all.take(), []);
});

queues.run();
