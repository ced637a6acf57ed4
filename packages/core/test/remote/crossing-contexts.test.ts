import { defineActor, type Middleware, type Ref } from '@troupe/core';
import { createTestSystem, type TestSystem, VirtualThreads } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const contexts = suite('contexts of middleware between threads');

interface Step {
  step(next: { readonly to: Ref<Step> | undefined }): void;
}

const Step = defineActor.of<Step>()('step', {
  handlers: {
    step(_ctx, { to }) {
      to?.tell.step({ to: undefined });
    },
  },
});

/** Each context is the path of sends that led to it. */
function tracing(log: string[], name = 'tracing'): Middleware {
  return {
    name,
    onSend: ({ path, cause }) => [...((cause as string[] | undefined) ?? []), `${log[0]}:${path}`],
    beforeMessage: ({ context }) => {
      log.push((context as string[]).join(' '));
      return undefined;
    },
    // Functions do not cross: these data do.
    packContext: (context) => (context as string[]).join('|'),
    unpackContext: (packed) => (packed as string).split('|'),
  };
}

/** Threads whose systems have middleware of their own, as `threads({ middleware })` gives it to real ones. */
class TracedThreads extends VirtualThreads {
  readonly logs = new Map<string, string[]>();

  protected override middlewareOf(thread: string): readonly Middleware[] {
    const log = [thread];
    this.logs.set(thread, log);
    return [tracing(log)];
  }
}

function world(threads: TracedThreads, log: string[]): TestSystem {
  return createTestSystem({ threads, middleware: [tracing(log)] });
}

contexts('a context follows its messages from thread to thread', async () => {
  const [threads, log] = [new TracedThreads({ count: 2 }), ['main']];
  await using main = world(threads, log);
  const first = main.system.spawn(Step, { name: 'first', on: 'thread-1' });
  const second = main.system.spawn(Step, { name: 'second', on: 'thread-2' });
  await main.settle();
  first.tell.step({ to: second });
  await main.settle();
  assert.equal(threads.logs.get('thread-1'), ['thread-1', 'main:/first']);
  assert.equal(threads.logs.get('thread-2'), ['thread-2', 'main:/first thread-1:/second']);
  assert.equal(log, ['main'], 'a proxy has no hooks of messages');
});

contexts('an ask and a message to a pool carry their contexts', async () => {
  const [threads, log] = [new TracedThreads({ count: 1 }), ['main']];
  await using main = world(threads, log);
  const ref = main.system.spawn(Step, { name: 'one', on: 'thread-1' });
  const asker = main.system.spawn(Step, { name: 'asker' });
  const pool = main.system.spawnPool(Step, { name: 'pool', size: 1 });
  await main.ask(ref).step({ to: undefined });
  ref.tell.step({ to: pool as unknown as Ref<Step> });
  asker.tell.step({ to: ref });
  await main.settle();
  assert.equal(threads.logs.get('thread-1')?.slice(1).sort(), [
    'main:/asker main:/one',
    'main:/one',
    'main:/one',
  ]);
  assert.ok(
    log.some((line) => /^main:\/one thread-1:\/pool.* main:\/pool/.test(line)),
    log.join('\n'),
  );
});

contexts('without a middleware of that name on the other thread the context is dropped', async () => {
  await using main = createTestSystem({
    threads: new VirtualThreads(),
    middleware: [tracing(['main'], 'only-on-main')],
  });
  const ref = main.system.spawn(Step, { on: 'thread-1' });
  await main.ask(ref).step({ to: undefined });
  assert.equal(main.eventsOf('failed'), []);
});

contexts('a context that cannot be cloned is refused with its path', async () => {
  const closure: Middleware = { name: 'closure', onSend: () => () => 1 };
  await using main = createTestSystem({ threads: new VirtualThreads(), middleware: [closure] });
  const ref = main.system.spawn(Step, { on: 'thread-1' });
  const error = await main
    .ask(ref)
    .step({ to: undefined })
    .catch((reason: unknown) => reason as { code: string; path: string });
  assert.is((error as { code: string }).code, 'ERR_NOT_CLONEABLE');
  assert.is((error as { path: string }).path, 'context.closure');
});

contexts.run();
