import type * as Core from '@troupe/core';
import type { Measurement } from '../../runner/suite.js';
import { scaled } from '../workload.js';

const inFlight = 1_000;
const afterMs = 60_000;

/** Timers of an actor: a thousand are armed, then cancelled, and so on. */
export function troupeTimers(core: typeof Core, system: Core.ActorSystem, scale: number) {
  const rounds = scaled(1_000, scale);
  const Armer = core.defineActor('armer', {
    state: () => ({ fired: 0 }),
    handlers: {
      arm(ctx) {
        const timers = new Array<Core.ActorTimer>(inFlight);
        const started = performance.now();
        for (let round = 0; round < rounds; round += 1) {
          for (let at = 0; at < inFlight; at += 1) timers[at] = ctx.after(afterMs, Armer.self(ctx)).fire();
          for (const timer of timers) timer.cancel();
        }
        const seconds = (performance.now() - started) / 1_000;
        const cancelled = timers.filter(({ active }) => !active).length;
        return { seconds, oracle: cancelled === inFlight && ctx.state.fired === 0 };
      },
      fire(ctx) {
        ctx.state.fired += 1;
      },
    },
  });
  return async (): Promise<Measurement> => {
    const armer = system.spawn(Armer);
    const result = await armer.with({ withinMs: Number.POSITIVE_INFINITY }).ask.arm();
    await system.stop(armer);
    const timers = rounds * inFlight;
    const left = system.stats().timers;
    return { ...result, attempted: timers, completed: timers - left };
  };
}

/** The same with timers of Node. */
export function nodeTimers(scale: number): () => Promise<Measurement> {
  const rounds = scaled(1_000, scale);
  return async () => {
    let fired = 0;
    const fire = (): void => {
      fired += 1;
    };
    const timers = new Array<NodeJS.Timeout>(inFlight);
    const started = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      for (let at = 0; at < inFlight; at += 1) timers[at] = setTimeout(fire, afterMs);
      for (const timer of timers) clearTimeout(timer);
    }
    const seconds = (performance.now() - started) / 1_000;
    return { seconds, attempted: rounds * inFlight, completed: rounds * inFlight, oracle: fired === 0 };
  };
}
