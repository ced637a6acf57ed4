import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Attempt } from '#src/worker/attempt/attempt.js';
import { AttemptQueue, QUEUED_MS_MAX } from '#src/worker/attempt/attempt-queue.js';
import { ManualTime } from '../../manual-time.js';

const queues = suite('attempt queue');

class QueueRig {
  readonly time = new ManualTime();
  readonly overdue: number[] = [];
  readonly queue = new AttemptQueue(this.time.host, QUEUED_MS_MAX, (attempt) =>
    this.overdue.push(attempt.job),
  );

  push(job: number): Attempt {
    const rest = { exec: 'some.job', payload: '1', client: 'c', runMs: 1_000, outputBytes: 1_000 };
    const attempt = new Attempt({ job, attempt: 1, ...rest }, this.time.now);
    this.queue.push(attempt);
    return attempt;
  }
}

queues('attempts leave in the order of their arrival', () => {
  const rig = new QueueRig();
  for (const job of [1, 2, 3]) rig.push(job);
  assert.equal([rig.queue.shift()?.job, rig.queue.shift()?.job, rig.queue.shift()?.job], [1, 2, 3]);
  assert.is(rig.queue.shift(), undefined);
});

queues('each attempt has the same limit, counted from its arrival', () => {
  const rig = new QueueRig();
  rig.push(1);
  rig.time.advance(5);
  rig.push(2);
  rig.time.advance(QUEUED_MS_MAX - 5);
  assert.equal(rig.overdue, [1]);
  rig.time.advance(5);
  assert.equal(rig.overdue, [1, 2]);
  assert.is(rig.time.pendingTimers, 0);
});

queues('an attempt that ended in the queue neither begins nor is overdue', () => {
  const rig = new QueueRig();
  const [first, , third] = [rig.push(1), rig.push(2), rig.push(3)];
  first.isOver = true;
  third.isOver = true;
  assert.is(rig.queue.shift()?.job, 2);
  assert.is(rig.queue.shift(), undefined);
  rig.push(4).isOver = true;
  rig.time.advance(QUEUED_MS_MAX);
  assert.equal(rig.overdue, []);
});

queues('a cleared queue has no attempt and no timer', () => {
  const rig = new QueueRig();
  rig.push(1);
  rig.queue.clear();
  assert.equal([rig.queue.shift(), rig.time.pendingTimers], [undefined, 0]);
  rig.push(2);
  rig.time.advance(QUEUED_MS_MAX);
  assert.equal(rig.overdue, [2]);
});

queues.run();
