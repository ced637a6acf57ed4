import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';
import { busyWork } from '../busy-work.js';

const smokers = 200;
const busyStepsMax = 1_000;

interface Arbiter {
  readonly random: SeededRandom;
  smokers: readonly Ref[];
  left: number;
}

/** An arbiter sends a message to one of two hundred idle smokers per round. */
export const cigsmok: Workload = {
  name: 'cigsmok',
  unit: 'rounds',
  prepare(system, scale) {
    const rounds = scaled(1_000, scale);
    const open = system.tell<readonly Ref[]>('open');
    const smoke = system.tell<{ arbiter: Ref; steps: number }>('smoke');
    const started = system.tell('started');
    const end = system.tell('end');
    let done = new Deferred();
    let smoked = 0;
    let ended = 0;
    const next = (state: Arbiter, self: Ref): void => {
      state.left -= 1;
      const chosen = state.smokers[state.random.below(smokers)];
      if (chosen !== undefined)
        smoke(chosen, { arbiter: self, steps: state.random.below(busyStepsMax) + 10 });
    };
    const Table = system.define({
      name: 'smokers-arbiter',
      state: (): Arbiter => ({ random: new SeededRandom(11), smokers: [], left: rounds }),
      handlers: {
        open(ctx, all: readonly Ref[]) {
          ctx.state.smokers = all;
          next(ctx.state, ctx.self);
        },
        started(ctx) {
          if (ctx.state.left > 0) next(ctx.state, ctx.self);
          else {
            for (const smoker of ctx.state.smokers) end(smoker);
            ctx.stop();
          }
        },
      },
    });
    const Smoker = system.define({
      name: 'smoker',
      state: (seed: number) => ({ random: new SeededRandom(seed), result: 0 }),
      handlers: {
        smoke(ctx, { arbiter, steps }: { arbiter: Ref; steps: number }) {
          started(arbiter);
          ctx.state.result += busyWork(ctx.state.random, steps);
          smoked += 1;
        },
        end(ctx) {
          ended += 1;
          ctx.stop();
          if (ended === smokers) done.resolve();
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      smoked = 0;
      ended = 0;
      const all = Array.from({ length: smokers }, (_, index) => system.spawn(Smoker, index + 1));
      open(system.spawn(Table), all);
      await done.promise;
      return { attempted: rounds, completed: smoked, oracle: ended === smokers };
    };
  },
};
