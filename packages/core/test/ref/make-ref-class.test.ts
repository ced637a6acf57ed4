// needs: node
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createSystem, defineActor } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const refClass = suite('ref-class');

const define = () =>
  defineActor('same', {
    state: () => ({ n: 0 }),
    handlers: { add: (ctx, by: number) => (ctx.state.n += by) },
  });

refClass('equal definitions have separate ref classes', async () => {
  await using system = createSystem();
  const [one, other] = [system.spawn(define()), system.spawn(define())];
  assert.is(await one.ask.add(1), 1);
  assert.is(await other.ask.add(2), 2);
  assert.is.not(one.tell.add, other.tell.add);
});

refClass('the ref class of a definition is built once', async () => {
  await using system = createSystem();
  const Same = define();
  const [one, other] = [system.spawn(Same), system.spawn(Same)];
  assert.is(one.tell.add, other.tell.add);
});

refClass('`ref.tell` creates no object: it is the ref itself', async () => {
  await using system = createSystem();
  const ref = system.spawn(define());
  assert.is(ref.tell, ref.tell);
});

refClass("handlers can have the names of the ref's own properties", async () => {
  await using system = createSystem();
  const got: string[] = [];
  const note = (name: string) => (_ctx: unknown, payload: number) => {
    got.push(`${name} ${payload}`);
    return name;
  };
  const Awkward = defineActor('awkward', {
    state: () => undefined,
    handlers: {
      path: note('path'),
      tell: note('tell'),
      cell: note('cell'),
      toString: note('toString'),
      constructor: note('constructor'),
    },
  });
  const ref = system.spawn(Awkward, { name: 'awkward' });
  ref.tell.path(1);
  ref.tell.tell(2);
  ref.tell.cell(3);
  ref.tell.toString(4);
  assert.is(await ref.ask.constructor(5), 'constructor');
  assert.equal(got, ['path 1', 'tell 2', 'cell 3', 'toString 4', 'constructor 5']);
  assert.is(ref.path, '/awkward');
  assert.is(`${ref}`, 'ref(/awkward)');
});

refClass('handlers named `then` and `toJSON` are ordinary messages, and a ref is no promise', async () => {
  await using system = createSystem();
  let calls = 0;
  const Awkward = defineActor('awkward', {
    state: () => undefined,
    handlers: {
      // biome-ignore lint/suspicious/noThenProperty: the name is what is tested
      then: () => {
        calls += 1;
      },
      toJSON: () => {
        calls += 1;
      },
      calls: () => calls,
    },
  });
  const ref = system.spawn(Awkward);
  assert.is(await Promise.resolve(ref), ref);
  assert.is(await ref.ask.calls(), 0);
  ref.tell.then();
  ref.tell.toJSON();
  assert.is(await ref.ask.calls(), 2);
});

refClass('actors work where code generation from strings is forbidden', async () => {
  const program = `
    import { createSystem, defineActor } from '@troupe/core';
    try { new Function('return 1'); process.exit(3); } catch {}
    const Adder = defineActor('adder', { state: () => ({ n: 0 }), handlers: { add: (ctx, by) => ctx.state.n += by } });
    const system = createSystem();
    const ref = system.spawn(Adder);
    ref.tell.add(1);
    process.stdout.write(String(await ref.ask.add(2)));
    await system.shutdown();
  `;
  const flags = ['--disallow-code-generation-from-strings', '--input-type=module'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', program], {
    cwd: import.meta.dirname,
  });
  assert.is(stdout, '3');
});

refClass.run();
