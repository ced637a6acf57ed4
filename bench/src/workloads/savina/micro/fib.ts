import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import type { Outcome, Workload } from '../../workload.js';

const golden = (1 + Math.sqrt(5)) / 2;

function fibonacci(n: number): number {
  let [last, current] = [0, 1];
  for (let index = 1; index < n; index += 1) [last, current] = [current, last + current];
  return current;
}

interface Call {
  readonly parent: Ref | undefined;
  readonly done: Deferred<number> | undefined;
  waiting: number;
  sum: number;
}

/** One actor per call of the naive recursion. */
export const fib: Workload = {
  name: 'fib',
  unit: 'actors',
  prepare(system, scale) {
    const n = Math.max(3, Math.round(25 + Math.log(scale) / Math.log(golden)));
    const expected = fibonacci(n);
    const compute = system.tell<number>('compute');
    const answer = system.tell<number>('answer');
    let made = 0;
    const reply = ({ parent, done }: Call, value: number): void => {
      if (parent === undefined) done?.resolve(value);
      else answer(parent, value);
    };
    const Fib = system.define({
      name: 'fib',
      state: ({ parent, done }: { parent?: Ref; done?: Deferred<number> }): Call => {
        made += 1;
        return { parent, done, waiting: 2, sum: 0 };
      },
      handlers: {
        compute(ctx, of: number) {
          if (of <= 2) {
            reply(ctx.state, 1);
            ctx.stop();
            return;
          }
          compute(system.spawn(Fib, { parent: ctx.self }), of - 1);
          compute(system.spawn(Fib, { parent: ctx.self }), of - 2);
        },
        answer(ctx, value: number) {
          const { state } = ctx;
          state.sum += value;
          state.waiting -= 1;
          if (state.waiting > 0) return;
          reply(state, state.sum);
          ctx.stop();
        },
      },
    });
    return async (): Promise<Outcome> => {
      made = 0;
      const done = new Deferred<number>();
      compute(system.spawn(Fib, { done }), n);
      const value = await done.promise;
      return { attempted: 2 * expected - 1, completed: made, oracle: value === expected };
    };
  },
};
