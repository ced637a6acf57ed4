import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ExecQueue } from '#src/leader/dispatch/exec-queue.js';
import { JobQueues, type WaitingJobs } from '#src/leader/dispatch/job-queues.js';
import { TURN_JOBS_MAX } from '#src/leader/options/leader-limits.js';
import { Job } from '#src/ledger/jobs/job.js';
import { StoredPolicy } from '#src/ledger/jobs/stored-policy.js';
import { policyOf } from '../../ledger/random-records.js';

const queueTests = suite('job queues');

let nextNo = 1;
const known = new Map<number, Job>();
function job(exec: string, client: string, dueAt = 0): Job {
  const policy = new StoredPolicy(1, policyOf(exec));
  nextNo += 1;
  const made = new Job(nextNo, policy, client, 0, '', '', dueAt);
  known.set(nextNo, made);
  return made;
}

const isWaiting = (no: number): boolean => known.get(no)?.state === 'queued';
const jobs: WaitingJobs = { isWaiting, waitsSince: (no) => known.get(no)?.at ?? 0, isRedriven: () => false };

/** An attempt that has ended. */
function ended(exec: string, client: string): Pick<Job, 'policy' | 'client'> {
  return { policy: new StoredPolicy(1, policyOf(exec)), client };
}

/** Takes every job that may run, as a dispatch with unlimited credit does. */
function takeAll(queues: JobQueues, max = Number.POSITIVE_INFINITY, batchContinues = false): Job[] {
  const taken: Job[] = [];
  while (taken.length < max) {
    const queue = queues.takeQueue();
    if (queue === undefined) break;
    const next = known.get(queues.peek(queue));
    if (next === undefined) continue;
    queues.take(queue, { batchContinues });
    queues.returnQueue(queue);
    next.state = 'running';
    taken.push(next);
  }
  return taken;
}

queueTests('execs take turns, and inside an exec the clients take turns', () => {
  const queues = new JobQueues(100, jobs);
  const all = [job('a', 'ann'), job('a', 'ann'), job('a', 'bob'), job('b', 'ann'), job('b', 'ann')];
  for (const one of all) queues.add(one, 0);
  const order = takeAll(queues).map((one) => `${one.policy.exec}${one.client}`);
  assert.equal(order, ['aann', 'bann', 'abob', 'bann', 'aann']);
});

queueTests('a batch of a client continues until its jobs or its limit end it', () => {
  const queues = new JobQueues(2, jobs);
  for (const client of ['ann', 'bob', 'ann', 'bob', 'ann']) queues.add(job('a', client), 0);
  const clients = takeAll(queues, Number.POSITIVE_INFINITY, true).map((one) => one.client);
  assert.equal(clients, ['ann', 'ann', 'bob', 'bob']);
  queues.removeRunning(ended('a', 'ann'));
  assert.is(takeAll(queues)[0]?.client, 'ann');
});

queueTests('a client at its limit does not hold up the others, and its jobs keep their order', () => {
  const queues = new JobQueues(1, jobs);
  const [first, second, third] = [job('a', 'ann'), job('a', 'ann'), job('a', 'ann')];
  const other = job('a', 'bob');
  for (const one of [first, second, third, other]) queues.add(one, 0);
  assert.equal(takeAll(queues), [first, other]);
  queues.removeRunning(ended('a', 'ann'));
  assert.equal(takeAll(queues), [second]);
  queues.removeRunning(ended('a', 'ann'));
  assert.equal(takeAll(queues), [third]);
});

queueTests('the same exec in two groups is two queues, whichever came first', () => {
  const queues = new JobQueues(100, jobs);
  for (const group of ['x', 'y', 'x']) queues.enqueue(job('a', 'ann').no, { exec: 'a', group }, 'ann');
  const groups: string[] = [];
  for (let queue = queues.takeQueue(); queue !== undefined; queue = queues.takeQueue()) {
    if (queues.peek(queue) === 0) continue;
    queues.take(queue, { batchContinues: false });
    queues.returnQueue(queue);
    groups.push(queue.group);
  }
  assert.equal(groups, ['x', 'y', 'x']);
});

queueTests('a delayed job waits until it is due, and a requeued one goes before later submits', () => {
  const queues = new JobQueues(10, jobs);
  const later = job('a', 'ann', 50);
  const now = job('a', 'ann');
  queues.add(later, 0);
  queues.add(now, 0);
  assert.is(queues.nextDueAt, 50);
  assert.equal(takeAll(queues), [now]);
  queues.promote(49);
  assert.equal(takeAll(queues), []);
  queues.promote(50);
  now.state = 'queued';
  queues.addFirst(now, 50);
  assert.equal(takeAll(queues), [now, later]);
});

queueTests('a retry joins the end of its lane when its delay is over', () => {
  const queues = new JobQueues(10, jobs);
  const retried = job('a', 'ann', 50);
  const waiting = [job('a', 'ann'), job('a', 'ann')];
  queues.addFirst(retried, 0);
  for (const one of waiting) queues.add(one, 0);
  queues.promote(50);
  assert.equal(takeAll(queues), [...waiting, retried]);
});

queueTests('cancelled jobs leave no entries behind', () => {
  const queues = new JobQueues(10, jobs);
  const delayed = Array.from({ length: 1_000 }, () => job('a', 'ann', 1_000));
  for (const one of delayed) queues.add(one, 0);
  for (const one of delayed) {
    one.state = 'cancelled';
    queues.cancelled(one);
    assert.is(one.heapIndex, -1);
  }
  assert.is(queues.delayed, 0);
  const waiting = job('a', 'ann');
  const cancelled = job('a', 'ann');
  queues.add(cancelled, 0);
  queues.add(waiting, 0);
  cancelled.state = 'cancelled';
  assert.equal(takeAll(queues), [waiting]);
});

queueTests('delayed jobs that are due at one moment are enqueued in bounded numbers', () => {
  const queues = new JobQueues(1e6, jobs);
  for (let i = 0; i < TURN_JOBS_MAX + 10; i += 1) queues.add(job('a', 'ann', 50), 0);
  assert.is(queues.promote(50), false);
  assert.is(takeAll(queues).length, TURN_JOBS_MAX);
  assert.is(queues.promote(50), true);
  assert.is(takeAll(queues).length, 10);
});

queueTests('a client whose last lane is gone is forgotten, and one with a lane is not', () => {
  const queues = new JobQueues(10, jobs);
  const { quotas } = queues as unknown as { quotas: ReadonlyMap<string, unknown> };
  for (let i = 0; i < 600; i += 1) {
    const one = job('a', `c${i}`);
    queues.add(one, 0);
    assert.equal(takeAll(queues), [one]);
    queues.removeRunning(one);
  }
  // Empty lanes that are kept for the next job of their client keep its quota.
  assert.ok(quotas.size <= 257, `${quotas.size}`);
});

// The next dispatch finds every job that may run, without another event.
queueTests('after a dispatch no job is left that may run', () => {
  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('add', 'release', 'cancel', 'some', 'stall'),
      exec: fc.constantFrom('a', 'b', 'c'),
      client: fc.constantFrom('ann', 'bob', 'eve'),
      count: fc.nat(4),
    }),
    { maxLength: 80, size: 'max' },
  );
  void fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 3 }), (all, runningMax) => {
      const queues = new JobQueues(runningMax, jobs);
      const waiting = new Set<Job>();
      const running = new Map<string, number>();
      const taken = (begun: Job[]): void => {
        for (const one of begun) {
          assert.ok(waiting.delete(one), 'taken once, while it waited');
          running.set(one.client, (running.get(one.client) ?? 0) + 1);
          assert.ok((running.get(one.client) ?? 0) <= runningMax, 'never above the limit');
        }
      };
      for (const { what, exec, client, count } of all) {
        if (what === 'add') {
          const one = job(exec, client);
          waiting.add(one);
          queues.add(one, 0);
        }
        if (what === 'release' && (running.get(client) ?? 0) > 0) {
          running.set(client, (running.get(client) ?? 0) - 1);
          queues.removeRunning(ended('a', client));
        }
        if (what === 'cancel') {
          const victim = [...waiting][count];
          if (victim !== undefined) {
            victim.state = 'cancelled';
            waiting.delete(victim);
            queues.cancelled(victim);
          }
        }
        if (what === 'some') taken(takeAll(queues, count));
        if (what === 'stall') stall(queues);
      }
      taken(takeAll(queues));
      for (const one of waiting)
        assert.is(running.get(one.client), runningMax, 'a client whose jobs still wait is at its limit');
    }),
    { numRuns: 500 },
  );
});

/** A dispatch that finds no worker returns every queue. */
function stall(queues: JobQueues): void {
  const stalled: ExecQueue[] = [];
  for (let queue = queues.takeQueue(); queue !== undefined; queue = queues.takeQueue()) {
    if (queues.peek(queue) !== 0) stalled.push(queue);
  }
  for (const queue of stalled) queues.returnQueue(queue);
}

queueTests('queues of execs that were used once are dropped; queues with a waiting job are not', () => {
  const queues = new JobQueues(1, jobs);
  const [running, parked] = [job('kept', 'ann'), job('kept', 'ann')];
  for (const one of [running, parked]) queues.add(one, 0);
  assert.equal(takeAll(queues), [running], 'the other is above the limit of its client');
  for (let i = 0; i < 5_000; i += 1) {
    const client = `client${i % 3}`;
    const once = job(`once${i}`, client);
    queues.add(once, 0);
    assert.equal(takeAll(queues), [once]);
    queues.removeRunning(once);
  }
  assert.ok(queues.size <= 1_025, `${queues.size} queues`);
  const again = job('once17', 'client2');
  queues.add(again, 0);
  assert.equal(takeAll(queues), [again]);
  queues.removeRunning(running);
  assert.equal(takeAll(queues), [parked]);
});

queueTests.run();
