import type { System } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';
import { type Outcome, scaled, type Workload } from '../workload.js';

/** Spawn, one message, stop; all actors live at the same time. */
export function createOf(name: string, size: number): Workload {
  return { name, unit: 'actors', prepare: (system, scale) => prepare(system, scaled(size, scale)) };
}

function prepare(system: System, actors: number): () => Promise<Outcome> {
  const touch = system.tell<number>('touch');
  let done = new Deferred();
  let touched = 0;
  const ShortLived = system.define({
    name: 'short-lived',
    state: (age: number) => ({ age }),
    handlers: {
      touch(ctx, by: number) {
        ctx.state.age += by;
        ctx.stop();
        touched += 1;
        if (touched === actors) done.resolve();
      },
      age: (ctx) => ctx.state.age,
    },
  });
  return async () => {
    done = new Deferred();
    touched = 0;
    for (let count = 0; count < actors; count += 1) touch(system.spawn(ShortLived, count), 1);
    await done.promise;
    return { attempted: actors, completed: touched, oracle: touched === actors };
  };
}
