import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const series = 10;
const startRate = 3.46;
const step = 0.0025;

const rateOf = (index: number): number => startRate + index * step;
const startOf = (index: number): number => (index + 1) * step;

function expectedSum(terms: number): number {
  let sum = 0;
  for (let index = 0; index < series; index += 1) {
    let term = startOf(index);
    for (let count = 0; count < terms; count += 1) term = rateOf(index) * term * (1 - term);
    sum += term;
  }
  return sum;
}

interface Worker {
  readonly computer: Ref;
  term: number;
  queued: number;
  waiting: boolean;
  report: Deferred<number> | undefined;
}

/** Ten series; each term is computed by another actor, and the worker queues requests meanwhile. */
export const logmap: Workload = {
  name: 'logmap',
  unit: 'terms',
  prepare(system, scale) {
    const terms = scaled(25_000, scale);
    const expected = expectedSum(terms);
    const next = system.tell('next');
    const report = system.tell<Deferred<number>>('report');
    const compute = system.tell<{ from: Ref; term: number }>('compute');
    const result = system.tell<number>('result');
    let computed = 0;
    const advance = (state: Worker, self: Ref): void => {
      if (state.waiting) return;
      if (state.queued > 0) {
        state.queued -= 1;
        state.waiting = true;
        compute(state.computer, { from: self, term: state.term });
      } else state.report?.resolve(state.term);
    };
    const RateComputer = system.define({
      name: 'rate-computer',
      state: (rate: number) => ({ rate }),
      handlers: {
        compute(ctx, { from, term }: { from: Ref; term: number }) {
          computed += 1;
          result(from, ctx.state.rate * term * (1 - term));
        },
      },
    });
    const Series = system.define({
      name: 'series',
      state: ({ computer, term }: { computer: Ref; term: number }): Worker => ({
        computer,
        term,
        queued: 0,
        waiting: false,
        report: undefined,
      }),
      handlers: {
        next(ctx) {
          ctx.state.queued += 1;
          advance(ctx.state, ctx.self);
        },
        result(ctx, term: number) {
          ctx.state.term = term;
          ctx.state.waiting = false;
          advance(ctx.state, ctx.self);
        },
        report(ctx, done: Deferred<number>) {
          ctx.state.report = done;
          advance(ctx.state, ctx.self);
        },
      },
    });
    return async (): Promise<Outcome> => {
      computed = 0;
      const computers = Array.from({ length: series }, (_, index) =>
        system.spawn(RateComputer, rateOf(index)),
      );
      const workers = computers.map((computer, index) =>
        system.spawn(Series, { computer, term: startOf(index) }),
      );
      for (let count = 0; count < terms; count += 1) for (const worker of workers) next(worker);
      const last = await Promise.all(
        workers.map((worker) => {
          const done = new Deferred<number>();
          report(worker, done);
          return done.promise;
        }),
      );
      for (const ref of [...computers, ...workers]) system.stop(ref);
      const sum = last.reduce((total, term) => total + term, 0);
      return { attempted: series * terms, completed: computed, oracle: sum === expected };
    };
  },
};
