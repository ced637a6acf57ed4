// Handlers of the tests with real threads. Each thread imports this module.

import { threadId } from 'node:worker_threads';
import { type AttemptContext, defineJob, handle, NonRetryableError } from '@troupe/jobs';
import { aNumber, anything, aString } from '../../plain-schema.js';

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
