import type * as Core from '@troupe/core';
import type { Measurement } from '../../runner/suite.js';
import { scaled } from '../workload.js';

const branches = 100;

/** A tree of three levels, stopped at its root: children end before their parents, each after its own hook. */
export function stopTree(core: typeof Core, system: Core.ActorSystem, scale: number) {
  const leavesEach = scaled(1_000, scale);
  let stopped = 0;
  const Leaf = core.defineActor('leaf', {
    handlers: {},
    stopped() {
      stopped += 1;
    },
  });
  const Branch = core.defineActor('branch', {
    handlers: {},
    started(ctx) {
      for (let count = 0; count < leavesEach; count += 1) ctx.spawn(Leaf);
    },
    stopped() {
      stopped += 1;
    },
  });
  const Root = core.defineActor('root', {
    handlers: { ready: (ctx) => ctx.children.length },
    started(ctx) {
      for (let count = 0; count < branches; count += 1) ctx.spawn(Branch);
    },
    stopped() {
      stopped += 1;
    },
  });
  const actors = 1 + branches + branches * leavesEach;
  return async (): Promise<Measurement> => {
    stopped = 0;
    const root = system.spawn(Root);
    while (system.stats().actors < actors) await root.ask.ready();
    const started = performance.now();
    await system.stop(root, { withinMs: 60_000 });
    return { seconds: (performance.now() - started) / 1_000, attempted: actors, completed: stopped };
  };
}
