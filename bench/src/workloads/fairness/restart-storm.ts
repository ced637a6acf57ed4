import type * as Core from '@troupe/core';
import type { RunContext, Trial } from '../../runner/suite.js';
import { Deferred } from '../deferred.js';
import { scaled } from '../workload.js';

const children = 100;

class IntendedError extends Error {
  readonly code = 'ERR_BENCH_INTENDED';
}

/** Every message makes its actor throw; the parent restarts it, and the actor handles the next message. */
export async function restartStorm(context: RunContext): Promise<Trial> {
  const core: typeof Core = await import('@troupe/core');
  const each = scaled(500, context.scale);
  // Writing a log line per failure would dominate the measurement, so this log port only counts.
  let logged = 0;
  const host: Core.Host = {
    ...core.nodeHost,
    log: () => {
      logged += 1;
    },
  };
  const system = core.createSystem({ name: 'storm', host });
  let done = new Deferred();
  let restarts = 0;
  const Child = core.defineActor('failing-child', {
    state: () => ({ failures: 0 }),
    handlers: {
      fail() {
        throw new IntendedError('thrown by the benchmark');
      },
    },
    restarting() {
      restarts += 1;
      if (restarts === children * each) done.resolve();
    },
  });
  const Parent = core.defineActor('storm-parent', {
    handlers: {
      begin(ctx) {
        for (let index = 0; index < children; index += 1) {
          const child = ctx.spawn(Child);
          for (let sent = 0; sent < each; sent += 1) child.tell.fail();
        }
      },
    },
    supervise: { restarts: 1_000_000_000, withinMs: 1_000 },
  });
  return {
    async run() {
      done = new Deferred();
      restarts = 0;
      const started = performance.now();
      const parent = system.spawn(Parent);
      parent.tell.begin();
      await done.promise;
      const seconds = (performance.now() - started) / 1_000;
      await system.stop(parent);
      return { attempted: children * each, completed: restarts, seconds, extra: { logged } };
    },
    async close() {
      await system.shutdown();
    },
  };
}
