import { defineActor, LookupError, NameTakenError, OptionError } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runtimeOf } from '../internals.js';

const registry = suite('registry');

const Child = defineActor('child', { handlers: { ping: () => 'pong' } });
const Parent = defineActor('parent', {
  handlers: {
    spawn: (ctx, name: string) => ctx.spawn(Child, { name }).path,
  },
});

registry('`lookup` finds a living actor by its path and checks its definition', async () => {
  await using test = createTestSystem();
  const child = test.system.spawn(Child, { name: 'ann' });
  assert.is(test.system.lookup(Child, 'ann'), child);
  assert.is(test.system.lookup(Child, '/ann'), child);
  assert.is(test.system.lookup(Child, 'bob'), undefined);
  try {
    test.system.lookup(Parent, 'ann');
    assert.unreachable();
  } catch (error) {
    assert.instance(error, LookupError);
    assert.is((error as LookupError).code, 'ERR_LOOKUP');
    assert.match((error as LookupError).message, '/ann: is a child, not a parent');
  }
});

registry('a name is unique among living siblings, not among other or ended actors', async () => {
  await using test = createTestSystem();
  const first = test.system.spawn(Child, { name: 'ann' });
  try {
    test.system.spawn(Child, { name: 'ann' });
    assert.unreachable();
  } catch (error) {
    assert.instance(error, NameTakenError);
    assert.is((error as NameTakenError).path, '/ann');
  }
  assert.is(test.system.stats().actors, 2, 'no actor was created');
  const parent = test.system.spawn(Parent, { name: 'p' });
  const path = parent.ask.spawn('ann');
  await test.settle();
  assert.is(await path, '/p/ann');
  void test.system.stop(first);
  await test.settle();
  const second = test.system.spawn(Child, { name: 'ann' });
  assert.is(test.system.lookup(Child, 'ann'), second);
});

registry('illegal names are refused before an actor is created', async () => {
  await using test = createTestSystem();
  for (const name of [
    '',
    'a/b',
    ' ',
    'ä',
    'x'.repeat(129),
    '$1',
    7 as unknown as string,
    null as unknown as string,
  ]) {
    try {
      test.system.spawn(Child, { name });
      assert.unreachable(String(name));
    } catch (error) {
      assert.instance(error, OptionError, String(name));
    }
  }
  assert.is(test.system.stats().actors, 1);
  test.system.spawn(Child, { name: 'A-z_0.9:@' });
});

registry('a name is free again as soon as its actor has stopped', async () => {
  await using test = createTestSystem();
  for (let i = 0; i < 100; i += 1) {
    const ref = test.system.spawn(Child, { name: 'again' });
    const stopped = test.system.stop(ref);
    await test.settle();
    await stopped;
  }
});

registry('an actor without a name has a unique path', async () => {
  await using test = createTestSystem();
  const paths = new Set<string>();
  for (let i = 0; i < 200; i += 1) {
    const ref = test.system.spawn(Child);
    paths.add(ref.path);
    void test.system.stop(ref);
    await test.settle();
    paths.add(ref.path);
  }
  assert.is(paths.size, 200);
});

registry('the watcher of a name is notified of every change', async () => {
  await using test = createTestSystem();
  const notified: (string | undefined)[] = [];
  const end = runtimeOf(test.system).registry.watch('ann', (ref) => notified.push(ref?.id));
  const first = test.system.spawn(Child, { name: 'ann' });
  void test.system.stop(first);
  await test.settle();
  const second = test.system.spawn(Child, { name: 'ann' });
  end();
  void test.system.stop(second);
  await test.settle();
  assert.equal(notified, [undefined, first.id, undefined, second.id]);
});

registry.run();
