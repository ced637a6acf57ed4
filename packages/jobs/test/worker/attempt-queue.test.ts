import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Attempt } from '#src/worker/attempt.js';
import { AttemptQueue, QUEUED_MS_MAX } from '#src/worker/attempt-queue.js';
import { ManualTime } from '../manual-time.js';

const lines = suite('queue');

class LineRig {
  readonly time = new ManualTime();
  readonly late: number[] = [];
  readonly queue = new AttemptQueue(this.time.host, (attempt) => this.late.push(attempt.job));

  join(job: number): Attempt {
    const rest = { exec: 'some.job', payload: '1', client: 'c', runMs: 1_000, outputBytes: 1_000 };
    const attempt = new Attempt({ job, attempt: 1, ...rest }, this.time.now);
    this.queue.push(attempt);
    return attempt;
  }
}

lines('they begin in the order in which they came', () => {
  const rig = new LineRig();
  for (const job of [1, 2, 3]) rig.join(job);
  assert.equal([rig.queue.shift()?.job, rig.queue.shift()?.job, rig.queue.shift()?.job], [1, 2, 3]);
  assert.is(rig.queue.shift(), undefined);
});

lines('each waits for as long as the others may, counted from when it came', () => {
  const rig = new LineRig();
  rig.join(1);
  rig.time.advance(5);
  rig.join(2);
  rig.time.advance(QUEUED_MS_MAX - 5);
  assert.equal(rig.late, [1]);
  rig.time.advance(5);
  assert.equal(rig.late, [1, 2]);
  assert.is(rig.time.armedTimers, 0);
});

lines('one that was ended where it stood neither begins nor is late', () => {
  const rig = new LineRig();
  const [first, , third] = [rig.join(1), rig.join(2), rig.join(3)];
  first.isOver = true;
  third.isOver = true;
  assert.is(rig.queue.shift()?.job, 2);
  assert.is(rig.queue.shift(), undefined);
  rig.join(4).isOver = true;
  rig.time.advance(QUEUED_MS_MAX);
  assert.equal(rig.late, []);
});

lines('a queue that is cleared keeps nobody and no timer', () => {
  const rig = new LineRig();
  rig.join(1);
  rig.queue.clear();
  assert.equal([rig.queue.shift(), rig.time.armedTimers], [undefined, 0]);
  rig.join(2);
  rig.time.advance(QUEUED_MS_MAX);
  assert.equal(rig.late, [2]);
});

lines.run();
