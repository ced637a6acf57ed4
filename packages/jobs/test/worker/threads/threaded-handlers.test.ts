import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Attempt } from '#src/worker/attempt/attempt.js';
import { RunnerPools } from '#src/worker/runners/runner-pools.js';
import type { ThreadJob } from '#src/worker/threads/handler-threads.js';
import { ThreadedHandlers } from '#src/worker/threads/threaded-handlers.js';
import { ManualTime } from '../../manual-time.js';

const placement = suite('threaded handlers');

const JOBS: readonly ThreadJob[] = [
  { exec: 'alone', group: 'g', sharesThread: false },
  { exec: 'shares', group: 'g', sharesThread: true },
];
const FAILURE = { name: 'ThreadEndedError', message: 'exit code 1' };

/** Two threads that the test starts and ends. */
class PlacementRig {
  readonly time = new ManualTime();
  readonly log: string[] = [];
  readonly handlers = new ThreadedHandlers({
    threads: {
      start: (thread) => this.log.push(`start ${thread}`),
      call: (thread, { assignment }) => this.log.push(`call ${assignment.job} on ${thread}`),
      abort: (thread, { reason }) => this.log.push(`abort on ${thread}: ${reason}`),
      openWindow: () => undefined,
      changeRunner: () => undefined,
      feed: () => undefined,
      end: (thread) => this.log.push(`end ${thread}`),
      close: () => this.log.push('close'),
    },
    count: 2,
    graceMs: 100,
    timers: this.time.host,
    pools: new RunnerPools({
      timers: this.time.host,
      onReady: () => undefined,
      onChange: () => undefined,
      onLoadFailed: () => undefined,
      onRetired: () => undefined,
    }),
    owner: {
      jobsKnown: () => this.log.push('jobs known'),
      lost: (attempt, { outcome }) => {
        attempt.isOver = true;
        this.log.push(`lost ${attempt.job}: ${outcome}`);
      },
      ended: ({ job }, { outcome }) => this.log.push(`ended ${job}: ${outcome}`),
      slotFreed: ({ job }) => this.log.push(`slot of ${job} free`),
      roomMade: () => undefined,
    },
  });

  constructor() {
    this.handlers.start();
    for (const thread of [0, 1]) this.up(thread);
    this.take();
  }

  up(thread: number): void {
    this.handlers.threadUp({ thread, jobs: JOBS, runners: [] });
  }

  /** The attempt, or undefined if there is no room for it. */
  run(exec: string, job: number): Attempt | undefined {
    const rest = { payload: '1', client: 'c', runMs: 1_000, outputBytes: 1_000 };
    const attempt = new Attempt({ exec, job, attempt: 1, ...rest }, this.time.now);
    if (!this.handlers.hasRoom(attempt)) return undefined;
    this.handlers.run(attempt, 'tag');
    return attempt;
  }

  /** The call with this number, counted from 1, ends on a thread. */
  ended(thread: number, id: number, job: number): void {
    this.handlers.handlerEnded({ thread, id, end: { outcome: 'released', job, attempt: 1 } });
  }

  threadEnded(thread: number): void {
    this.handlers.threadEnded({ thread, failure: FAILURE });
  }

  take(): string[] {
    return this.log.splice(0);
  }
}

function cancel(attempt: Attempt | undefined): void {
  if (attempt === undefined) throw new Error('there was no room');
  attempt.abort('tag-1', 'cancelled');
  attempt.isOver = true;
}

placement('a thread has one attempt; one that shares joins others that share', () => {
  const rig = new PlacementRig();
  rig.run('alone', 1);
  rig.run('shares', 2);
  rig.run('shares', 3);
  assert.equal(rig.take(), ['call 1 on 0', 'call 2 on 1', 'call 3 on 1']);
  assert.is(rig.run('alone', 4), undefined);
  rig.ended(0, 1, 1);
  rig.run('alone', 4);
  assert.equal(rig.take(), ['ended 1: released', 'call 4 on 0']);
});

placement('a thread with a cancelled attempt gets no other, and is ended after the grace', () => {
  const rig = new PlacementRig();
  rig.run('alone', 1);
  const shares = rig.run('shares', 2);
  cancel(shares);
  rig.handlers.aborted(shares as Attempt);
  assert.is(rig.run('shares', 3), undefined);
  rig.take();
  rig.time.advance(99);
  assert.equal(rig.take(), []);
  rig.time.advance(1);
  assert.equal(rig.take(), ['end 1']);
});

placement('a handler that ends within the grace keeps its thread', () => {
  const rig = new PlacementRig();
  const attempt = rig.run('alone', 1);
  cancel(attempt);
  rig.handlers.aborted(attempt as Attempt);
  rig.ended(0, 1, 1);
  rig.time.advance(100);
  assert.equal(rig.take(), ['call 1 on 0', 'abort on 0: cancelled', 'ended 1: released']);
});

placement(
  'a thread that ended by itself blames its only attempt, whose slot waits for the next thread',
  () => {
    const rig = new PlacementRig();
    rig.run('alone', 1);
    rig.take();
    rig.threadEnded(0);
    assert.equal(rig.take(), ['lost 1: failed', 'start 0']);
    rig.up(0);
    assert.equal(rig.take(), ['slot of 1 free']);
  },
);

placement('of several attempts none is blamed, and each runs alone the next time', () => {
  const rig = new PlacementRig();
  rig.run('alone', 1);
  rig.run('shares', 2);
  rig.run('shares', 3);
  rig.take();
  rig.threadEnded(1);
  assert.equal(rig.take(), ['lost 2: released', 'lost 3: released', 'start 1']);
  rig.up(1);
  rig.run('shares', 2);
  assert.is(rig.run('shares', 3), undefined);
  rig.take();
  rig.threadEnded(1);
  assert.equal(rig.take(), ['lost 2: failed', 'start 1']);
});

placement('a thread that cannot start is tried again later and later', () => {
  const rig = new PlacementRig();
  for (const waitMs of [100, 200, 400]) {
    rig.threadEnded(0);
    rig.time.advance(waitMs - 1);
    assert.equal(rig.take(), []);
    rig.time.advance(1);
    assert.equal(rig.take(), ['start 0']);
  }
});

placement('an attempt without a handler fails without a thread', () => {
  const rig = new PlacementRig();
  rig.run('unknown', 1);
  assert.equal(rig.take(), ['ended 1: failed']);
});

placement.run();
