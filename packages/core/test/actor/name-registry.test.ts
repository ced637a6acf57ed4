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
  assert.is(await test.ask(parent).spawn('ann'), '/p/ann');
  await test.settle(test.system.stop(first));
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
    await test.settle(test.system.stop(ref));
  }
});

registry('an actor without a name has a unique path', async () => {
  await using test = createTestSystem();
  const paths = new Set<string>();
  for (let i = 0; i < 200; i += 1) {
    const ref = test.system.spawn(Child);
    paths.add(ref.path);
    await test.settle(test.system.stop(ref));
    paths.add(ref.path);
  }
  assert.is(paths.size, 200);
});

registry('the watcher of a name is notified of every change', async () => {
  await using test = createTestSystem();
  const notified: (string | undefined)[] = [];
  const end = runtimeOf(test.system).registry.watch('ann', (ref) => notified.push(ref?.id));
  const first = test.system.spawn(Child, { name: 'ann' });
  await test.settle(test.system.stop(first));
  const second = test.system.spawn(Child, { name: 'ann' });
  end();
  await test.settle(test.system.stop(second));
  assert.equal(notified, [undefined, first.id, undefined, second.id]);
});

registry('an anonymous actor is called after its definition, with a number of its own for ever', async () => {
  const Odd = defineActor('two words/é', { handlers: {} });
  await using test = createTestSystem();
  const [first, second, odd] = [test.system.spawn(Child), test.system.spawn(Child), test.system.spawn(Odd)];
  assert.match(first.path, /^\/child-\d+$/);
  assert.match(odd.path, /^\/two-words--\d+$/);
  const paths = new Set([first.path, second.path]);
  for (let i = 0; i < 10; i += 1) {
    const child = test.system.spawn(Child);
    paths.add(child.path);
    const { path } = child;
    await test.settle(test.system.stop(child));
    assert.is(child.path, path, 'the path stays after its end');
  }
  assert.is(paths.size, 12);
});

registry('a name in use by an anonymous sibling is refused, also one with a generation', async () => {
  await using test = createTestSystem();
  const earlier = test.system.spawn(Child);
  await test.settle(test.system.stop(earlier));
  const later = test.system.spawn(Child);
  assert.match(later.path, /^\/child-\d+\.1$/);
  for (const { path } of [test.system.spawn(Child), later]) {
    assert.throws(
      () => test.system.spawn(Child, { name: path.slice(1) }),
      (error: unknown) => error instanceof NameTakenError && error.path === path,
    );
  }
  const free = test.system.spawn(Child, { name: earlier.path.slice(1) });
  assert.is(free.path, earlier.path, 'the name of an ended anonymous actor is free');
});

registry('an anonymous actor skips a number that the name of a sibling has taken', async () => {
  await using test = createTestSystem();
  const slot = Number(test.system.spawn(Child).path.split('-').at(-1));
  const names = [1, 2, 3].map((n) => `child-${slot + n + 3}`);
  for (const name of names) test.system.spawn(Child, { name });
  const anonymous = Array.from({ length: 6 }, () => test.system.spawn(Child).path);
  const all = [...names.map((name) => `/${name}`), ...anonymous];
  assert.is(new Set(all).size, all.length, all.join(' '));
});

registry.run();
