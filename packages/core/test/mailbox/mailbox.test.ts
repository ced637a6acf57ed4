import { defineActor } from '@troupe/core';
import { createTestSystem, SeededRandom } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Mailbox } from '#src/mailbox/mailbox.js';
import type { MailboxSettings } from '#src/mailbox/mailbox-settings.js';
import { EMPTY_QUEUE } from '#src/mailbox/message-queue.js';
import {
  AWAITING,
  CLOSED,
  DRAINING,
  FAULT,
  FENCED,
  IDLE,
  KILL_REQUESTED,
  OVERLOADED,
  SCHEDULED,
  SETTLED,
  SIGNALS,
  STOP_REQUESTED,
  STOPPING,
  SUSPENSION,
  TERMINATED,
} from '#src/mailbox/status-word.js';
import { runtimeOf } from '../internals.js';

const mailboxes = suite('mailbox');

class PlainMailbox extends Mailbox {
  override afterLastTurn(): void {}
}

function mailbox(status = IDLE): Mailbox {
  const made = new PlainMailbox({ idleStatus: IDLE, capacity: 2, levels: undefined } as MailboxSettings, 1);
  made.status = status;
  return made;
}

const transitions: readonly (readonly [keyof Mailbox, before: number, after: number])[] = [
  ['markScheduled', IDLE, SCHEDULED],
  ['markUnscheduled', SCHEDULED | SIGNALS, SIGNALS],
  ['markSignalled', IDLE, SIGNALS],
  ['clearSignals', SIGNALS | SCHEDULED, SCHEDULED],
  ['markAwaiting', SCHEDULED, SCHEDULED | AWAITING],
  ['markSettled', AWAITING, AWAITING | SETTLED],
  ['clearAwaiting', SCHEDULED | AWAITING | SETTLED, SCHEDULED],
  ['markFailed', SCHEDULED, SCHEDULED | FAULT],
  ['clearFailed', FAULT, IDLE],
  ['markOverloaded', IDLE, OVERLOADED],
  ['clearOverloaded', OVERLOADED, IDLE],
  ['openSuspension', SUSPENSION, 2 * SUSPENSION],
  ['closeSuspension', 2 * SUSPENSION, SUSPENSION],
  ['markStopRequested', DRAINING | STOP_REQUESTED | CLOSED, STOP_REQUESTED | CLOSED],
  ['markDrainRequested', IDLE, STOP_REQUESTED | CLOSED | DRAINING],
  ['markKillRequested', AWAITING, AWAITING | KILL_REQUESTED | CLOSED],
  ['clearStopRequest', STOP_REQUESTED | CLOSED, CLOSED],
  ['requestStopIfDrained', DRAINING, DRAINING | STOP_REQUESTED],
  ['requestStopIfDrained', DRAINING | AWAITING, DRAINING | AWAITING],
  ['requestStopIfDrained', IDLE, IDLE],
  ['beginStop', FAULT, STOPPING | CLOSED],
  ['beginKill', KILL_REQUESTED | STOP_REQUESTED | AWAITING | SETTLED | FAULT, STOPPING | CLOSED],
  ['close', IDLE, CLOSED | STOPPING],
  ['reopenAsFailed', STOPPING | CLOSED | DRAINING | STOP_REQUESTED | KILL_REQUESTED, FAULT],
];

for (const [name, before, after] of transitions) {
  mailboxes(`${name}: ${before} → ${after}`, () => {
    const made = mailbox(before);
    (made[name] as () => void).call(made);
    assert.is(made.status, after);
  });
}

mailboxes('a terminated mailbox keeps its ready entry and a code, and nothing else', () => {
  const made = mailbox(SCHEDULED | STOPPING | (3 * SUSPENSION));
  made.ownQueue().push(0, 'left');
  made.markTerminated(2);
  assert.is(made.status, SCHEDULED | TERMINATED | CLOSED | (2 * SUSPENSION));
  assert.is(made.terminationCode, 2);
  assert.is(made.queue, EMPTY_QUEUE);
});

mailboxes(
  'a replacement takes messages, requests and suspensions over, and the earlier one is fenced',
  () => {
    const earlier = mailbox(SCHEDULED | FAULT | DRAINING | CLOSED | OVERLOADED | SUSPENSION);
    const queue = earlier.ownQueue();
    queue.push(0, 'waiting');
    const replacement = mailbox();
    replacement.takeOver(earlier);
    assert.is(replacement.status, DRAINING | CLOSED | OVERLOADED | SUSPENSION | STOP_REQUESTED);
    assert.is(replacement.queue, queue);
    assert.is(earlier.status, FENCED | CLOSED);
    assert.is(earlier.queue, EMPTY_QUEUE);
    assert.not.ok(earlier.isCurrent);
  },
);

mailboxes('signals are work behind a closed gate, messages are not', () => {
  const made = mailbox(AWAITING);
  made.ownQueue().push(0, 1);
  assert.is(made.hasWork, false);
  made.markSignalled();
  assert.is(made.hasWork, true);
  assert.is(made.isFull, false);
  made.ownQueue().push(0, 2);
  assert.is(made.isFull, true);
});

mailboxes('between two turns, ready entries, queue lengths and status words agree', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    await using test = createTestSystem({ seed, supervise: { restarts: 1_000 } });
    const random = new SeededRandom(seed);
    const { ready } = runtimeOf(test.system);
    const Actor = defineActor('actor', {
      mailbox: { capacity: 4 },
      handlers: {
        work(ctx, hops: number) {
          if (random.chance(0.05)) throw new Error('fails now and then');
          if (hops > 0) refs[random.below(refs.length)]?.tell.work(hops - 1);
          if (random.chance(0.02)) ctx.stop();
          return random.chance(0.1) ? Promise.resolve() : undefined;
        },
      },
    });
    const refs = Array.from({ length: 8 }, () => test.system.spawn(Actor));
    for (const ref of refs) ref.tell.work(50);
    for (let step = 0; step < 500; step += 1) {
      if (!test.step()) await test.settle();
      if (random.chance(0.1)) refs[random.below(refs.length)]?.tell.work(20);
      const present = ready.slots.mailboxes.filter((cell) => cell !== undefined);
      const scheduled = present.filter(({ status }) => (status & SCHEDULED) !== 0);
      assert.is(ready.depth, scheduled.length, 'one ready entry for each scheduled mailbox');
      const queued = present.reduce((sum, { queue }) => sum + queue.length, 0);
      assert.is(ready.queued, queued, 'the total is the sum of the queues');
      for (const cell of present) {
        assert.ok(cell.hasWork <= ((cell.status & SCHEDULED) !== 0), 'an actor with work is scheduled');
        assert.ok(!cell.isTerminated || cell.queue === EMPTY_QUEUE, 'a terminated actor has no queue');
      }
    }
  }
});

mailboxes.run();
