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

refClass('equal definitions have methods of their own', async () => {
  await using system = createSystem();
  const [one, other] = [system.spawn(define()), system.spawn(define())];
  assert.is(await one.ask.add(1), 1);
  assert.is(await other.ask.add(2), 2);
  assert.is.not(one.tell.add, other.tell.add);
});

refClass('the methods of a definition are made once', async () => {
  await using system = createSystem();
  const Same = define();
  const [one, other] = [system.spawn(Same), system.spawn(Same)];
  assert.is(one.tell.add, other.tell.add);
});

refClass('actors work where code may not be made from strings', async () => {
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
