import { Latch } from '../latch.js';
import { scaled, type Workload } from '../workload.js';

/** Spawn, one message, stop; a hundred thousand alive at once. */
export const create: Workload = {
  name: 'create',
  unit: 'actors',
  prepare(system, scale) {
    const actors = scaled(100_000, scale);
    const touch = system.tell<number>('touch');
    let done = new Latch();
    let touched = 0;
    const Mayfly = system.define({
      name: 'mayfly',
      state: (age: number) => ({ age }),
      handlers: {
        touch(ctx, by: number) {
          ctx.state.age += by;
          ctx.stop();
          touched += 1;
          if (touched === actors) done.open();
        },
        age: (ctx) => ctx.state.age,
      },
    });
    return async () => {
      done = new Latch();
      touched = 0;
      for (let count = 0; count < actors; count += 1) touch(system.spawn(Mayfly, count), 1);
      await done.promise;
      return { attempted: actors, completed: touched };
    };
  },
};
