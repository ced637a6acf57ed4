import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const philosophers = 20;

interface ForkRequest {
  readonly from: Ref;
  readonly index: number;
}

/** Twenty philosophers request forks from one arbiter and repeat denied requests. */
export const philosopher: Workload = {
  name: 'philosopher',
  unit: 'meals',
  prepare(system, scale) {
    const meals = scaled(10_000, scale);
    const start = system.tell('start');
    const hungry = system.tell<ForkRequest>('hungry');
    const full = system.tell<number>('full');
    const eat = system.tell('eat');
    const denied = system.tell('denied');
    let done = new Deferred();
    let eaten = 0;
    let finished = 0;
    let clashes = 0;
    const Arbiter = system.define({
      name: 'arbiter',
      state: () => ({ forks: new Array<boolean>(philosophers).fill(false) }),
      handlers: {
        hungry(ctx, { from, index }: ForkRequest) {
          const { forks } = ctx.state;
          const right = (index + 1) % philosophers;
          if (forks[index] === true || forks[right] === true) {
            denied(from);
            return;
          }
          forks[index] = true;
          forks[right] = true;
          eat(from);
        },
        full(ctx, index: number) {
          const { forks } = ctx.state;
          const right = (index + 1) % philosophers;
          if (forks[index] !== true || forks[right] !== true) clashes += 1;
          forks[index] = false;
          forks[right] = false;
        },
      },
    });
    const Philosopher = system.define({
      name: 'philosopher',
      state: ({ index, arbiter }: { index: number; arbiter: Ref }) => ({ index, arbiter, left: meals }),
      handlers: {
        start(ctx) {
          hungry(ctx.state.arbiter, { from: ctx.self, index: ctx.state.index });
        },
        denied(ctx) {
          hungry(ctx.state.arbiter, { from: ctx.self, index: ctx.state.index });
        },
        eat(ctx) {
          const { state } = ctx;
          state.left -= 1;
          eaten += 1;
          full(state.arbiter, state.index);
          if (state.left > 0) {
            start(ctx.self);
            return;
          }
          finished += 1;
          ctx.stop();
          if (finished === philosophers) done.resolve();
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      eaten = 0;
      finished = 0;
      clashes = 0;
      const arbiter = system.spawn(Arbiter);
      const table = Array.from({ length: philosophers }, (_, index) =>
        system.spawn(Philosopher, { index, arbiter }),
      );
      for (const one of table) start(one);
      await done.promise;
      system.stop(arbiter);
      return { attempted: philosophers * meals, completed: eaten, oracle: clashes === 0 };
    };
  },
};
