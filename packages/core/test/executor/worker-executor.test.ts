import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createSystem, defineActor, type Host, nodeHost } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runtimeOf } from '../internals.js';

const executor = suite('worker executor');

const Counter = defineActor('counter', {
  state: () => ({ n: 0 }),
  handlers: {
    add: (ctx) => {
      ctx.state.n += 1;
    },
    get: (ctx) => ctx.state.n,
  },
});

/** Counts turns of the event loop until the returned function is called. */
function countLoopTurns(): () => number {
  let turns = 0;
  let done = false;
  const count = (): void => {
    turns += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  return () => {
    done = true;
    return turns;
  };
}

/** A host that counts the calls of the executor. */
function countingHost(): { readonly host: Host; readonly calls: { soon: number; later: number } } {
  const calls = { soon: 0, later: 0 };
  const host: Host = {
    ...nodeHost,
    soon: (run) => {
      calls.soon += 1;
      nodeHost.soon(run);
    },
    later: (run) => {
      calls.later += 1;
      nodeHost.later(run);
    },
    log: () => undefined,
  };
  return { host, calls };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

executor('a burst from outside arms the executor once', async () => {
  const { host, calls } = countingHost();
  await using system = createSystem({ host, slice: { msMin: 50, msMax: 50 } });
  const ref = system.spawn(Counter);
  calls.soon = 0;
  for (let i = 0; i < 1_000; i += 1) ref.tell.add();
  assert.is(calls.soon, 1);
  assert.is(await ref.ask.get(), 1_000);
});

executor('an idle system makes no calls to its host', async () => {
  const { host, calls } = countingHost();
  await using system = createSystem({ host });
  const ref = system.spawn(Counter);
  assert.is(await ref.ask.get(), 0);
  await nextTurn();
  await nextTurn();
  const before = { ...calls };
  for (let i = 0; i < 20; i += 1) await nextTurn();
  assert.equal(calls, before);
});

executor('an ask is answered within one turn of the event loop', async () => {
  await using system = createSystem();
  const ref = system.spawn(Counter);
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  for (let i = 0; i < 10; i += 1) await ref.ask.get();
  assert.is(turned, false);
});

executor('work beyond a slice continues after a turn of the event loop, without loss', async () => {
  await using system = createSystem({ slice: { msMin: 0.2, msMax: 1 } });
  const Busy = defineActor('busy', {
    state: () => ({ n: 0 }),
    handlers: {
      spin: (ctx) => {
        const until = performance.now() + 0.2;
        while (performance.now() < until);
        ctx.state.n += 1;
      },
      get: (ctx) => ctx.state.n,
    },
  });
  const refs = Array.from({ length: 20 }, () => system.spawn(Busy));
  for (let i = 0; i < 10; i += 1) for (const ref of refs) ref.tell.spin();
  const stopCounting = countLoopTurns();
  const counts = await Promise.all(refs.map((ref) => ref.ask.get()));
  const turns = stopCounting();
  assert.ok(counts.every((n) => n === 10));
  assert.ok(turns >= 10, `40 ms of work in slices of 1 ms let the loop turn ${turns} times only`);
});

/**
 * A message `work(ms)` moves the clock by `ms`; `longest` is the longest time without a turn of the event
 * loop.
 */
function slowHost(): { readonly host: Host; readonly clock: { now: number; longest: number } } {
  const clock = { now: 0, longest: 0 };
  let turnedAt = 0;
  const host: Host = {
    ...nodeHost,
    now: () => clock.now,
    later: (run) =>
      nodeHost.later(() => {
        clock.longest = Math.max(clock.longest, clock.now - turnedAt);
        turnedAt = clock.now;
        run();
      }),
    log: () => undefined,
  };
  return { host, clock };
}

function defineSlow(clock: { now: number }) {
  return defineActor('slow', {
    state: () => ({ n: 0 }),
    handlers: {
      work: (ctx, ms: number) => {
        clock.now += ms;
        ctx.state.n += 1;
      },
      get: (ctx) => ctx.state.n,
    },
  });
}

executor(
  'the backlog of one slow actor holds the event loop no longer than its first few messages',
  async () => {
    const { host, clock } = slowHost();
    await using system = createSystem({ host });
    const ref = system.spawn(defineSlow(clock));
    for (let i = 0; i < 900; i += 1) ref.tell.work(1);
    assert.is(await system.ask(ref, { withinMs: 60_000 }).get(), 900);
    assert.ok(clock.longest <= 20, `the loop was held for ${clock.longest} ms by messages of 1 ms`);
    clock.longest = 0;
    for (let i = 0; i < 900; i += 1) ref.tell.work(1);
    assert.is(await system.ask(ref, { withinMs: 60_000 }).get(), 1_800);
    assert.ok(clock.longest <= 4, `known to be slow, it still held the loop for ${clock.longest} ms`);
  },
);

executor('an actor type that becomes slow gets shorter turns', async () => {
  const { host, clock } = slowHost();
  await using system = createSystem({ host });
  const Slow = defineSlow(clock);
  const ref = system.spawn(Slow);
  for (let i = 0; i < 10_000; i += 1) ref.tell.work(0);
  assert.is(await ref.ask.get(), 10_000);
  const long: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    clock.longest = 0;
    for (let i = 0; i < 600; i += 1) ref.tell.work(1);
    await system.ask(ref, { withinMs: 60_000 }).get();
    long.push(clock.longest);
  }
  assert.ok((long[0] ?? 0) <= 320, `${long}`);
  assert.ok(Math.max(...long.slice(1)) <= 4, `${long}`);
});

executor('an actor that sends to itself for ever does not block timers of the event loop', async () => {
  const system = createSystem();
  const SelfSender = defineActor('self-sender', {
    handlers: { go: (ctx): void => SelfSender.self(ctx).tell.go() },
  });
  system.spawn(SelfSender).tell.go();
  const ref = system.spawn(Counter);
  const startedAt = performance.now();
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
  assert.ok(performance.now() - startedAt < 1_000);
  assert.is(await ref.ask.get(), 0);
  await system.shutdown();
});

executor('every message is counted once over many slices', async () => {
  await using system = createSystem({ slice: { msMin: 0.01, msMax: 0.05 } });
  const refs = Array.from({ length: 100 }, () => system.spawn(Counter));
  for (let i = 0; i < 1_000; i += 1) for (const ref of refs) ref.tell.add();
  const counts = await Promise.all(refs.map((ref) => ref.ask.get()));
  assert.ok(counts.every((n) => n === 1_000));
  await nextTurn();
  assert.is(system.stats().handled, 100_000 + 100);
  assert.is(system.stats().queued, 0);
});

executor('the executor stops with its system and leaves no actor in the ready ring', async () => {
  const system = createSystem();
  const refs = Array.from({ length: 100 }, () => system.spawn(Counter));
  for (const ref of refs) for (let i = 0; i < 100; i += 1) ref.tell.add();
  const report = await system.shutdown();
  assert.is(report.handled + report.deadLetters, 10_000);
  assert.is(runtimeOf(system).ready.depth, 0);
  refs[0]?.tell.add();
  await nextTurn();
  assert.is(system.stats().deadLetters + system.stats().handled, 10_001);
});

executor('a timer wakes an idle executor', async () => {
  await using system = createSystem();
  const Sleeper = defineActor('sleeper', {
    handlers: {
      nap: (ctx) => void ctx.suspend('rate-limit', { on: 'after', ms: 5 }),
      ping: () => 'pong',
    },
  });
  const ref = system.spawn(Sleeper);
  ref.tell.nap();
  assert.is(await ref.ask.ping(), 'pong');
});

executor('a process with idle actors exits without a shutdown', async () => {
  const script = fileURLToPath(new URL('./idle-exit-process.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  assert.ok(Number(stdout) < 1_000, `it stayed ${stdout} ms because of a timer`);
});

executor('endless bursts in microtasks do not block the event loop', async () => {
  let time = 0;
  const host: Host = { ...nodeHost, now: () => time, log: () => undefined };
  await using system = createSystem({ host, slice: { msMin: 1, msMax: 1 } });
  const Slow = defineActor('slow', {
    handlers: {
      work: () => {
        time += 0.01;
        return time;
      },
    },
  });
  const ref = system.spawn(Slow);
  const stopCounting = countLoopTurns();
  // Each ask is a burst of its own: the executor is idle before the next.
  for (let i = 0; i < 2_000; i += 1) await ref.ask.work();
  const turns = stopCounting();
  assert.ok(turns >= 10, `20 ms of asks in slices of 1 ms let the loop turn ${turns} times only`);
});

executor.run();
