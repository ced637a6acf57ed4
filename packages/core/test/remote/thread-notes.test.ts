import { defineActor, type Ref } from '@troupe/core';
import { SeededRandom } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LinkedSystems } from './linked-systems.js';

const notes = suite('notes of threads');

interface Busy {
  work(left: number): void;
  hold(left: number): void;
  release(): void;
  know(others: readonly Ref<Busy>[]): void;
}

/** Sends on, here and to other threads, sets messages aside, and fails now and then. */
const Busy = defineActor.of<Busy>()('busy', {
  state: () => ({ others: [] as readonly Ref<Busy>[], turn: 0 }),
  mailbox: { capacity: 6 },
  handlers: {
    work(ctx, left) {
      const { state } = ctx;
      if (left <= 0) return;
      state.turn += 1;
      state.others[state.turn % state.others.length]?.tell.work(left - 1);
      if (left % 3 === 0) state.others[(state.turn + 1) % state.others.length]?.tell.hold(left - 1);
      if (left % 7 === 0) throw new Error('crash');
    },
    hold(ctx, left) {
      if (left % 2 === 0) ctx.stash();
    },
    release: (ctx) => ctx.unstash(),
    know(ctx, others) {
      ctx.state.others = others;
    },
  },
  stashMax: 10_000,
});

notes('the messages in the mailboxes of a thread that ends are counted exactly, under 60 seeds', async () => {
  let counted = 0;
  for (let seed = 1; seed <= 60; seed += 1) {
    const systems = new LinkedSystems({ threads: 3, seed, room: 8, definitions: [Busy] });
    const random = new SeededRandom(seed);
    const { system } = systems.main;
    const all = ['thread-1', 'thread-1', 'thread-1', 'thread-2', 'main'].map((on) =>
      system.spawn(Busy, { on }),
    );
    for (const ref of all) ref.tell.know(all as Ref<Busy>[]);
    await systems.settle();
    for (let n = 0; n < 12; n += 1) all[n % all.length]?.tell.work(random.below(30));
    systems.stepTimes(50 + random.below(300));
    const left = systems.worlds[1]?.system.stats().queued ?? 0;
    const before = system.stats().deadLetters;
    const unread = systems.unreadBy(1, 0);
    systems.kill(1, new Error('the thread has ended'));
    const lost = system.stats().deadLetters - before;
    assert.is(lost, left + unread, `seed ${seed}`);
    counted += left;
    await systems.close();
  }
  assert.ok(counted > 200, `${counted}`);
});

let look: (() => void) | undefined;

/** Calls the test in the middle of its messages and hooks. */
const Looked = defineActor('looked', {
  started: () => look?.(),
  handlers: {
    message: () => look?.(),
    spawnChild: (ctx) => void ctx.spawn(Looked),
  },
});

notes(
  'the message or hook that a thread is in can be read by the main thread, and is in its report',
  async () => {
    const systems = new LinkedSystems({ threads: 2, definitions: [Looked] });
    const { system } = systems.main;
    const seen: (string | undefined)[] = [];
    look = () => {
      const begun = systems.receiver(0).messageOn(1);
      seen.push(begun && `${begun.path}.${begun.message}`);
      systems.receiver(0).blocked(1, 1_500);
    };
    const ref = system.spawn(Looked, { on: 'thread-1', name: 'one' });
    await systems.settle();
    ref.tell.message();
    await systems.settle();
    ref.tell.spawnChild();
    await systems.settle();
    look = undefined;
    assert.equal(seen.slice(0, 2), ['/one.started', '/one.message']);
    assert.match(seen[2] ?? '', /^looked \(1:\d+\.0\)\.started$/);
    const blocked = systems.main.eventsOf('blocked');
    assert.equal(blocked[1], {
      kind: 'blocked',
      thread: 'thread-1',
      path: '/one',
      message: 'message',
      ms: 1_500,
    });
    systems.receiver(1).looked();
    assert.is(systems.receiver(0).messageOn(1), undefined, 'after a look for records it is in none');
    await systems.close();
  },
);

notes.run();
