import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ExecQueue } from '#src/leader/dispatch/exec-queue.js';
import { JobQueues } from '#src/leader/dispatch/job-queues.js';
import { Job, StoredPolicy } from '#src/ledger/job.js';
import { policyOf } from '../../ledger/legal-history.js';

const rooms = suite('waiting room');

let nextNo = 1;
const known = new Map<number, Job>();
function job(exec: string, client: string, dueAt = 0): Job {
  const policy = new StoredPolicy(1, policyOf(exec));
  nextNo += 1;
  const made = new Job(nextNo, policy, client, 0, '', '', dueAt);
  known.set(nextNo, made);
  return made;
}

const waits = (no: number): boolean => known.get(no)?.state === 'queued';

/** Takes every job that may run, as a dispatch with endless credit would. */
function drain(room: JobQueues, max = Number.POSITIVE_INFINITY, batchContinues = false): Job[] {
  const taken: Job[] = [];
  while (taken.length < max) {
    const exec = room.takeQueue();
    if (exec === undefined) break;
    const next = known.get(room.peek(exec));
    if (next === undefined) continue;
    room.take(exec, { batchContinues });
    room.returnQueue(exec);
    next.state = 'running';
    taken.push(next);
  }
  return taken;
}

rooms('execs take turns, and inside an exec the clients take turns', () => {
  const room = new JobQueues(100, waits);
  const all = [job('a', 'ann'), job('a', 'ann'), job('a', 'bob'), job('b', 'ann'), job('b', 'ann')];
  for (const one of all) room.add(one, 0);
  const order = drain(room).map((one) => `${one.policy.exec}${one.client}`);
  assert.equal(order, ['aann', 'bann', 'abob', 'bann', 'aann']);
});

rooms('a client whose turn goes on keeps it until its jobs or its cap are over', () => {
  const room = new JobQueues(2, waits);
  for (const client of ['ann', 'bob', 'ann', 'bob', 'ann']) room.add(job('a', client), 0);
  const batchLeft = drain(room, Number.POSITIVE_INFINITY, true).map((one) => one.client);
  assert.equal(batchLeft, ['ann', 'ann', 'bob', 'bob']);
  room.removeRunning('ann');
  assert.is(drain(room)[0]?.client, 'ann');
});

// A29: a client at its cap stands aside; the others of the same exec go on, and its own order holds.
rooms('a client at its cap blocks nobody and keeps its order', () => {
  const room = new JobQueues(1, waits);
  const [first, second, third] = [job('a', 'ann'), job('a', 'ann'), job('a', 'ann')];
  const other = job('a', 'bob');
  for (const one of [first, second, third, other]) room.add(one, 0);
  assert.equal(drain(room), [first, other]);
  room.removeRunning('ann');
  assert.equal(drain(room), [second]);
  room.removeRunning('ann');
  assert.equal(drain(room), [third]);
});

rooms('the same exec in two groups is two queues, whichever came first', () => {
  const room = new JobQueues(100, waits);
  for (const group of ['x', 'y', 'x']) room.enqueue(job('a', 'ann').no, { exec: 'a', group }, 'ann');
  const groups: string[] = [];
  for (let queue = room.takeQueue(); queue !== undefined; queue = room.takeQueue()) {
    if (room.peek(queue) === 0) continue;
    room.take(queue, { batchContinues: false });
    room.returnQueue(queue);
    groups.push(queue.group);
  }
  assert.equal(groups, ['x', 'y', 'x']);
});

rooms('a delayed job waits for its time, and a requeued one goes before those that came later', () => {
  const room = new JobQueues(10, waits);
  const later = job('a', 'ann', 50);
  const now = job('a', 'ann');
  room.add(later, 0);
  room.add(now, 0);
  assert.is(room.nextDueAt, 50);
  assert.equal(drain(room), [now]);
  room.promote(49);
  assert.equal(drain(room), []);
  room.promote(50);
  now.state = 'queued';
  room.addFirst(now, 50);
  assert.equal(drain(room), [now, later]);
});

rooms('cancelled jobs leave no trace, however many', () => {
  const room = new JobQueues(10, waits);
  const delayed = Array.from({ length: 1_000 }, () => job('a', 'ann', 1_000));
  for (const one of delayed) room.add(one, 0);
  for (const one of delayed) {
    one.state = 'cancelled';
    room.cancelled(one, 0);
  }
  assert.is(room.delayed, 0);
  const waiting = job('a', 'ann');
  const cancelled = job('a', 'ann');
  room.add(cancelled, 0);
  room.add(waiting, 0);
  cancelled.state = 'cancelled';
  assert.equal(drain(room), [waiting]);
});

// A27: whatever the order of events, a job that may run is found by the next dispatch without another event.
rooms('no wake-up is lost: after a dispatch nothing that may run is left', () => {
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
    fc.property(steps, fc.integer({ min: 1, max: 3 }), (all, cap) => {
      const room = new JobQueues(cap, waits);
      const waiting = new Set<Job>();
      const running = new Map<string, number>();
      const taken = (jobs: Job[]): void => {
        for (const one of jobs) {
          assert.ok(waiting.delete(one), 'taken once, while it waited');
          running.set(one.client, (running.get(one.client) ?? 0) + 1);
          assert.ok((running.get(one.client) ?? 0) <= cap, 'never above the cap');
        }
      };
      for (const { what, exec, client, count } of all) {
        if (what === 'add') {
          const one = job(exec, client);
          waiting.add(one);
          room.add(one, 0);
        }
        if (what === 'release' && (running.get(client) ?? 0) > 0) {
          running.set(client, (running.get(client) ?? 0) - 1);
          room.removeRunning(client);
        }
        if (what === 'cancel') {
          const victim = [...waiting][count];
          if (victim !== undefined) {
            victim.state = 'cancelled';
            waiting.delete(victim);
            room.cancelled(victim, 0);
          }
        }
        if (what === 'some') taken(drain(room, count));
        if (what === 'stall') stall(room);
      }
      taken(drain(room));
      for (const one of waiting) assert.is(running.get(one.client), cap, 'whoever still waits is at the cap');
    }),
    { numRuns: 500 },
  );
});

/** A dispatch that finds no worker: everything goes back. */
function stall(room: JobQueues): void {
  const stalled: ExecQueue[] = [];
  for (let exec = room.takeQueue(); exec !== undefined; exec = room.takeQueue()) {
    if (room.peek(exec) !== 0) stalled.push(exec);
  }
  for (const exec of stalled) room.returnQueue(exec);
}

rooms('queues of names that are used once do not stay; those that somebody waits in do', () => {
  const room = new JobQueues(1, waits);
  const [running, parked] = [job('kept', 'ann'), job('kept', 'ann')];
  for (const one of [running, parked]) room.add(one, 0);
  assert.equal(drain(room), [running], 'the other is over the cap of its client');
  for (let i = 0; i < 5_000; i += 1) {
    const client = `client${i % 3}`;
    const once = job(`once${i}`, client);
    room.add(once, 0);
    assert.equal(drain(room), [once]);
    room.removeRunning(client);
  }
  assert.ok(room.size <= 1_025, `${room.size} queues`);
  const again = job('once17', 'client2');
  room.add(again, 0);
  assert.equal(drain(room), [again]);
  room.removeRunning('ann');
  assert.equal(drain(room), [parked]);
});

rooms.run();
