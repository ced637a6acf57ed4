// The effect of each directive.
import { defineActor, EscalatedError, type SupervisionPolicy } from '@troupe/core';
import { createTestSystem, ManualHost } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cellOf } from '../internals.js';

const supervisor = suite('supervisor');

const Child = defineActor('child', {
  state: () => ({ n: 0 }),
  handlers: {
    add: (ctx) => {
      ctx.state.n += 1;
      return ctx.state.n;
    },
    fail: (_ctx, text: string): never => {
      throw new Error(text);
    },
  },
});

/** A parent with three children and the given policy. */
async function parentWithChildren(supervise: SupervisionPolicy, root: SupervisionPolicy = {}) {
  const host = new ManualHost();
  const test = createTestSystem({ host, supervise: root });
  const events: string[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') events.push(`${event.path} ${event.directive.split(' ')[0]}`);
    if (event.kind === 'restarted') events.push(`${event.path} restarted`);
    if (event.kind === 'stopped') events.push(`${event.path} ${event.reason}`);
  });
  const Parent = defineActor('parent', {
    handlers: { children: (ctx) => ctx.children.map((ref) => ref.path) },
    started(ctx) {
      for (const name of ['a', 'b', 'c']) ctx.spawn(Child, { name });
    },
    supervise,
  });
  const parent = test.system.spawn(Parent, { name: 'p' });
  await test.settle();
  const child = (name: string) => {
    const ref = test.system.lookup(Child, `p/${name}`);
    assert.ok(ref, name);
    return ref;
  };
  return { test, host, events, parent, child };
}

supervisor('resume keeps the state and continues', async () => {
  const { test, child } = await parentWithChildren({ decide: () => 'resume' });
  const b = child('b');
  b.tell.add();
  b.tell.fail('x');
  assert.is(await test.ask(b).add(), 2);
  await test[Symbol.asyncDispose]();
});

supervisor('a restart gives a new state and keeps mailbox and ref', async () => {
  const { test, child, events } = await parentWithChildren({});
  const b = child('b');
  b.tell.add();
  b.tell.fail('x');
  assert.is(await test.ask(b).add(), 1);
  assert.equal(events, ['/p/b restart', '/p/b restarted']);
  await test[Symbol.asyncDispose]();
});

supervisor(
  'stop ends the child, makes dead letters of its backlog and does not touch its siblings',
  async () => {
    const { test, child, parent } = await parentWithChildren({ decide: () => 'stop' });
    const b = child('b');
    b.tell.fail('x');
    b.tell.add();
    b.tell.add();
    await test.settle();
    assert.equal(await test.ask(parent).children(), ['/p/a', '/p/c']);
    assert.is(test.system.stats().deadLetters, 2);
    await test[Symbol.asyncDispose]();
  },
);

supervisor('escalate fails the parent, which stops its children', async () => {
  const { test, child, events } = await parentWithChildren({ decide: () => 'escalate' });
  await test.tell(child('b')).fail('x');
  assert.equal(events.slice(0, 2), ['/p/b escalate', '/p restart']);
  assert.equal(events.slice(2, 5).sort(), ['/p/a stopped', '/p/b stopped', '/p/c stopped']);
  assert.is(events[5], '/p restarted');
  assert.is(await test.ask(child('b')).add(), 1);
  await test[Symbol.asyncDispose]();
});

supervisor('a failure that reaches the guardian stops the system with a report', async () => {
  const { test, child } = await parentWithChildren(
    { decide: () => 'escalate' },
    { decide: () => 'escalate' },
  );
  child('b').tell.fail('the end');
  await test.advance(10_000);
  const report = await test.system.whenStopped;
  assert.instance(report.cause, EscalatedError);
  assert.match(report.cause?.message ?? '', 'the end');
  assert.is(test.system.stats().queued, 0);
});

supervisor('too many restarts within the window escalate, and restarts outside it do not', async () => {
  const { test, child, events } = await parentWithChildren({ restarts: 2, withinMs: 100 });
  for (let i = 0; i < 6; i += 1) {
    child('b').tell.fail('x');
    await test.advance(60);
  }
  assert.ok(!events.includes('/p/b escalate'));
  for (let i = 0; i < 3; i += 1) child('b').tell.fail('x');
  await test.settle();
  assert.ok(events.includes('/p/b escalate'));
  await test[Symbol.asyncDispose]();
});

supervisor('one-for-all restarts all siblings, rest-for-one those that started later', async () => {
  for (const [strategy, restarted] of [
    ['one-for-all', ['/p/a', '/p/b', '/p/c']],
    ['rest-for-one', ['/p/b', '/p/c']],
    ['one-for-one', ['/p/b']],
  ] as const) {
    const { test, child, events } = await parentWithChildren({ strategy });
    for (const name of ['a', 'b', 'c']) child(name).tell.add();
    await test.settle();
    await test.tell(child('b')).fail('x');
    assert.equal(
      events.filter((event) => event.endsWith('restarted')).sort(),
      restarted.map((path) => `${path} restarted`),
      strategy,
    );
    for (const name of ['a', 'b', 'c']) {
      const expected = (restarted as readonly string[]).includes(`/p/${name}`) ? 0 : 1;
      assert.is((cellOf(child(name)).state as { n: number }).n, expected, `${strategy} ${name}`);
    }
    await test[Symbol.asyncDispose]();
  }
});

supervisor('a one-for-all restart lets a stopping sibling end', async () => {
  const { test, child, parent } = await parentWithChildren({ strategy: 'one-for-all' });
  const stopped = test.system.stop(child('c'));
  await test.tell(child('a')).fail('x');
  assert.is(await stopped, 'stopped');
  assert.equal(await test.ask(parent).children(), ['/p/a', '/p/b']);
  await test[Symbol.asyncDispose]();
});

supervisor(
  'the back-off grows with repeated failures and is reset after a time without failures',
  async () => {
    const { test, child } = await parentWithChildren({
      restarts: 100,
      backoff: { fromMs: 10, toMs: 80, resetAfterMs: 500 },
    });
    const delays: number[] = [];
    const failOnce = async (): Promise<void> => {
      await test.tell(child('b')).fail('x');
      const failedAt = test.host.now();
      const back = child('b').ask.add();
      let at = -1;
      void back.then(() => {
        at = test.host.now();
      });
      for (let i = 0; i < 200 && at < 0; i += 1) await test.advance(1);
      delays.push(at - failedAt);
    };
    for (let i = 0; i < 6; i += 1) await failOnce();
    await test.advance(501);
    await failOnce();
    assert.equal(delays, [10, 20, 40, 80, 80, 80, 10]);
    await test[Symbol.asyncDispose]();
  },
);

supervisor('a failure is logged once, with actor, message, directive and attempt', async () => {
  const { test, child, host } = await parentWithChildren({ restarts: 3 });
  await test.tell(child('b')).fail('no luck');
  assert.equal(
    host.logged.map((line) => line.message),
    ['/p/b.fail failed: no luck → restart, attempt 1 of 3'],
  );
  await test[Symbol.asyncDispose]();
});

supervisor('a failure beyond the limit is logged with the reason of the escalation', async () => {
  const { test, child, host } = await parentWithChildren({ restarts: 1, withinMs: 1_000 });
  for (const text of ['one', 'two']) {
    await test.tell(child('b')).fail(text);
  }
  const failed = test.eventsOf('failed').find(({ directive }) => directive === 'escalate');
  assert.equal([failed?.attempt, failed?.attemptsMax], [1, 1]);
  assert.is(failed?.why, 'more than 1 restarts within 1000 ms');
  assert.is(host.logged[1]?.message, '/p/b.fail failed: two → escalate: more than 1 restarts within 1000 ms');
  await test[Symbol.asyncDispose]();
});

supervisor('`decide` gets the error, the child, the message and the number of the restart', async () => {
  const seen: unknown[] = [];
  const Child = defineActor('child', {
    handlers: {
      fail: (): never => {
        throw new Error('x');
      },
    },
  });
  await using test = createTestSystem({
    supervise: {
      decide: ({ error, child, message, attempt }) => {
        seen.push([error.message, Child.is(child), child.path, message, attempt]);
        return 'restart';
      },
    },
  });
  const ref = test.system.spawn(Child, { name: 'c' });
  ref.tell.fail();
  ref.tell.fail();
  await test.settle();
  assert.equal(seen, [
    ['x', true, '/c', 'fail', 1],
    ['x', true, '/c', 'fail', 2],
  ]);
});

supervisor(
  'a failure is a signal that reaches a parent which is busy, suspended or has a full mailbox',
  async () => {
    const host = new ManualHost();
    const test = createTestSystem({ host });
    const Parent = defineActor('parent', {
      handlers: { wait: () => new Promise<void>(() => undefined), put: () => undefined },
      started: (ctx) => void ctx.spawn(Child, { name: 'c' }),
      mailbox: { capacity: 1, overflow: 'reject' },
      stopWithinMs: 10,
    });
    const parent = test.system.spawn(Parent, { name: 'p' });
    await test.settle();
    await test.tell(parent).wait();
    test.system.suspend(parent);
    for (let i = 0; i < 5; i += 1) parent.tell.put();
    const child = test.system.lookup(Child, 'p/c');
    child?.tell.fail('x');
    const n = child?.ask.add();
    await test.settle();
    assert.is(await n, 1);
    await test[Symbol.asyncDispose]();
  },
);

supervisor('the end of a significant child ends its parent', async () => {
  await using test = createTestSystem();
  const Parent = defineActor('parent', {
    handlers: {},
    started: (ctx) => void ctx.spawn(Child, { name: 'c', significant: true }),
  });
  const parent = test.system.spawn(Parent, { name: 'p' });
  await test.settle();
  const child = test.system.lookup(Child, 'p/c');
  assert.ok(child);
  await test.settle(test.system.stop(child));
  assert.is(await test.system.stop(parent), 'stopped');
  assert.is(test.system.stats().actors, 1);
});

supervisor.run();
