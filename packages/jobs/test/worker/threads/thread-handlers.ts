// Handlers of the tests with real threads. Each thread imports this module.

import { existsSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import { type AttemptContext, defineJob, handle, NonRetryableError } from '@troupe/jobs';
import { aNumber, anything, aString, schema } from '../../plain-schema.js';

const retry = { attempts: 3, baseMs: 1, capMs: 5, jitter: 0 };
const once = { ...retry, attempts: 1 };

export const double = defineJob('threads.double', { input: aNumber, output: aNumber, retry });
export const whereAmI = defineJob('threads.where', { input: anything, output: aNumber, retry });
export const spin = defineJob('threads.spin', { input: anything, output: anything, retry: once });
export const spinLimited = defineJob('threads.spin-limited', {
  input: anything,
  output: anything,
  retry: once,
  limits: { runMs: 100 },
});
export const wait = defineJob('threads.wait', { input: anything, output: aString, retry: once });
export const exit = defineJob('threads.exit', { input: aNumber, output: anything, retry: once });
export const exhaust = defineJob('threads.exhaust', { input: anything, output: anything, retry: once });
export const fail = defineJob('threads.fail', { input: aString, output: anything, retry: once });
export const burn = defineJob('threads.burn', { input: aNumber, output: anything, retry });
export const shared = defineJob('threads.shared', { input: aNumber, output: aNumber, retry: once });
export const sharedSpin = defineJob('threads.shared-spin', {
  input: anything,
  output: anything,
  retry: once,
  limits: { runMs: 300 },
});
export const sharedExit = defineJob('threads.shared-exit', {
  input: aNumber,
  output: anything,
  retry: { ...retry, attempts: 2 },
});

function forever(): never {
  for (;;);
}

function untilAborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const onAbort = (): void => resolve((signal.reason as { reason: string }).reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function burnFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

async function exitAfter(ms: number): Promise<never> {
  await delay(ms);
  process.exit(7);
}

/** The last word of the signal, in memory that the test reads through a later job. */
let lastAbort = 'none';

export const handlers = [
  handle(double, (n) => n * 2),
  handle(whereAmI, () => threadId),
  handle(spin, forever),
  handle(spinLimited, forever),
  handle(wait, async (_, { signal }: AttemptContext) => {
    lastAbort = await untilAborted(signal);
    return lastAbort;
  }),
  handle(exit, (code) => process.exit(code)),
  // Yields in between: on Node 24 a loop that does not may end the process.
  handle(exhaust, async () => {
    const kept: unknown[] = [];
    for (;;) {
      for (let count = 0; count < 50; count += 1) kept.push(new Array(10_000).fill({}));
      await new Promise(setImmediate);
    }
  }),
  handle(fail, (text) => {
    throw new NonRetryableError(text, { cause: new RangeError('below') });
  }),
  handle(burn, (ms) => burnFor(ms)),
  handle(
    shared,
    async (ms) => {
      await delay(ms);
      return threadId;
    },
    { sharesThread: true },
  ),
  handle(
    sharedSpin,
    async () => {
      await delay(50);
      forever();
    },
    { sharesThread: true },
  ),
  handle(sharedExit, exitAfter, { sharesThread: true }),
];

export const lastAbortOf = defineJob('threads.last-abort', { input: anything, output: aString, retry });
export const readsLastAbort = handle(lastAbortOf, () => lastAbort);

export const count = defineJob('threads.count', {
  input: aNumber,
  output: schema<number[]>('list', Array.isArray),
  chunk: aNumber,
  retry,
});
export const bulk = defineJob('threads.bulk', {
  input: aNumber,
  output: anything,
  chunk: aString,
  collect: false,
  retry: once,
});
export const echo = defineJob('threads.echo', {
  input: anything,
  output: aString,
  chunk: aString,
  feed: aString,
  retry,
});
export const crashing = defineJob('threads.crashing', {
  input: aNumber,
  output: aString,
  chunk: aNumber,
  collect: false,
  retry,
});
export const limited = defineJob('threads.limited', {
  input: aString,
  output: anything,
  chunk: aString,
  feed: aString,
  collect: false,
  retry: once,
  limits: { silenceMs: 200 },
});
export const sentByBulk = defineJob('threads.sent', { input: anything, output: aNumber, retry });

/** Chunks that the last bulk has given. */
let sent = 0;

export const streaming = [
  handle(count, async function* (to, { progress, log, trailer }) {
    for (let i = 0; i < to; i += 1) yield i;
    progress(1, 'counted');
    log('done');
    trailer({ counted: to });
  }),
  handle(
    bulk,
    async function* (chunks) {
      for (sent = 0; sent < chunks; sent += 1) yield 'x'.repeat(10_000);
      return sent;
    },
    { sharesThread: true },
  ),
  handle(sentByBulk, () => sent, { sharesThread: true }),
  handle(echo, async function* (_, { feed }) {
    for await (const item of feed) yield item.toUpperCase();
  }),
  handle(limited, async function* (mode, { feed, signal }) {
    yield mode;
    if (mode === 'wait') await untilAborted(signal);
    if (mode === 'compute') forever();
    if (mode === 'bulk') for (let i = 0; i < 100; i += 1) yield 'x'.repeat(10_000);
    for await (const item of feed) yield item;
    return 'done';
  }),
  handle(crashing, async function* (to, { attempt }) {
    for (let i = 0; i < to; i += 1) {
      yield i;
      await delay(5);
      if (attempt === 1 && i === 3) process.exit(9);
    }
    return `attempt ${attempt}`;
  }),
];

export const model = defineJob('threads.model', {
  input: aString,
  output: aString,
  chunk: aString,
  useStatic: true,
  retry: once,
});
export const badModel = defineJob('threads.bad-model', {
  input: aString,
  output: aString,
  useStatic: true,
  retry: once,
});

/** Loads on this thread. */
let modelLoads = 0;

export const warmHandlers = [
  handle(model, {
    pool: { size: 2, runsMax: 10 },
    load: async () => {
      await delay(20);
      modelLoads += 1;
      return { name: `${threadId}/${modelLoads}` };
    },
    async *run(text, { loaded }) {
      yield loaded.name;
      if (text.startsWith('until ')) while (!existsSync(text.slice(6))) await delay(5);
      if (text === 'fail') throw new Error('damaged');
      if (text === 'exit') process.exit(5);
    },
  }),
  handle(badModel, {
    load: () => {
      throw new RangeError('no memory');
    },
    run: (text) => text,
  }),
];
