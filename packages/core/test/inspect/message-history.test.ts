import { type ActorRef, createSystem, defineActor, type RuntimeEvent } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../deferred.js';
import { runtimeOf } from '../internals.js';

const messageHistory = suite('message history');

const Last = defineActor('last', {
  handlers: {
    note() {},
    crash() {
      throw new Error('crash');
    },
  },
});

const First = defineActor('first', {
  state: (args: { last: ActorRef<typeof Last> }) => args,
  handlers: {
    pass: (ctx) => ctx.tell(ctx.state.last).note(),
    begin: (ctx) => ctx.tell(ctx.state.last).crash(),
  },
});

type Failed = Extract<RuntimeEvent, { readonly kind: 'failed' }>;

function watched(options: Parameters<typeof createTestSystem>[0] = {}) {
  const test = createTestSystem(options);
  const failures: Failed[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') failures.push(event);
  });
  const last = test.system.spawn(Last, { name: 'last' });
  const first = test.system.spawn(First, { args: { last }, name: 'first' });
  return { test, failures, first, last };
}

messageHistory('the event and the log line of a failure have the message history', async () => {
  const { test, failures, first } = watched();
  await using _ = test;
  await test.tell(first).begin();
  const expected = ['outside → /first.begin', '/first → /last.crash'];
  assert.equal(failures[0]?.messageHistory, expected);
  assert.equal(test.host.logged.find(({ level }) => level === 'error')?.fields.messageHistory, expected);
});

messageHistory('the report of a failed system has the message history of the original failure', async () => {
  const { test, first } = watched({ supervise: { restarts: 0 } });
  await test.tell(first).begin();
  const { cause, messageHistory: expected } = await test.system.whenStopped;
  assert.match(cause?.message ?? '', 'crash');
  assert.equal(expected, ['outside → /first.begin', '/first → /last.crash']);
  const unfailing = createTestSystem();
  await unfailing[Symbol.asyncDispose]();
  assert.equal((await unfailing.system.whenStopped).messageHistory, []);
});

messageHistory('the message history is built on first read, once', async () => {
  const { test, failures, first } = watched();
  await using _ = test;
  const { recorder } = runtimeOf(test.system);
  let reads = 0;
  const read = recorder?.messageHistoryOf.bind(recorder);
  Object.assign(recorder ?? {}, {
    messageHistoryOf: (...args: Parameters<NonNullable<typeof read>>) => {
      reads += 1;
      return read?.(...args);
    },
  });
  await test.tell(first).begin();
  assert.is(reads, 0);
  assert.is(failures[0]?.messageHistory, failures[0]?.messageHistory);
  assert.is(reads, 1);
});

messageHistory('a flood to an actor that awaits is recorded once, as to any busy actor', async () => {
  const Waiting = defineActor('waiting', {
    handlers: {
      hold: (_ctx, until: Promise<void>) => until,
      note() {},
    },
  });
  await using test = createTestSystem();
  const waiting = test.system.spawn(Waiting);
  const until = deferred();
  await test.tell(waiting).hold(until.promise);
  for (let n = 0; n < 500; n += 1) waiting.tell.note();
  const { recorder, ready } = runtimeOf(test.system);
  assert.is(recorder?.lastSends(ready, 1_000).length, 2);
  until.resolve();
  await test.settle();
});

messageHistory('without a flight recorder the message history is empty', async () => {
  const { test, failures, first } = watched({ recorder: false });
  await using _ = test;
  await test.tell(first).begin();
  assert.equal(failures[0]?.messageHistory, []);
});

messageHistory('messages of an ended sender are not attributed to the next actor in its slot', async () => {
  const { test, failures, first, last } = watched();
  await using _ = test;
  const slot = first.id.split('.')[0];
  await test.tell(first).pass();
  await test.settle(test.system.stop(first));
  const next = test.system.spawn(First, { args: { last }, name: 'next' });
  assert.is(next.id.split('.')[0], slot, 'the same slot');
  await test.tell(next).begin();
  assert.equal(failures[0]?.messageHistory, [
    `ended actor ${slot} → /last.note`,
    'outside → /next.begin',
    '/next → /last.crash',
  ]);
});

messageHistory('the message history has no messages of the previous actor in the slot', async () => {
  const { test, failures, last } = watched();
  await using _ = test;
  const slot = last.id.split('.')[0];
  await test.tell(last).note();
  await test.settle(test.system.stop(last));
  const next = test.system.spawn(Last, { name: 'next' });
  assert.is(next.id.split('.')[0], slot, 'the same slot');
  await test.tell(next).crash();
  assert.equal(failures[0]?.messageHistory, ['outside → /next.crash']);
});

messageHistory(
  '`lastMessages` is the tail of all messages, oldest first, and empty without a recorder',
  async () => {
    const Echo = defineActor('echo', { handlers: { first: () => 1, second: () => 2 } });
    for (const recorder of [true, false]) {
      await using system = createSystem({ recorder });
      const echo = system.spawn(Echo, { name: 'echo' });
      await system.ask(echo).first();
      await system.ask(echo).second();
      const tail = system.lastMessages(1);
      assert.equal(tail, recorder ? ['outside → /echo.second'] : []);
    }
  },
);

messageHistory.run();
