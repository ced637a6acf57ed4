import type { System } from '../../adapters/actor-system.js';
import { type Outcome, scaled, type Workload } from '../workload.js';

function defineAdder(system: System): object {
  return system.define({
    name: 'adder',
    state: () => ({ asked: 0 }),
    handlers: {
      next(ctx, value: number) {
        ctx.state.asked += 1;
        return value + 1;
      },
      asked: (ctx) => ctx.state.asked,
    },
  });
}

/** One question at a time, each with its deadline armed, the next one only after the answer. */
export const ask: Workload = {
  name: 'ask',
  unit: 'asks',
  note: 'tart, xstate, effect and the floor have no deadline to arm; Erlang: plain processes with `receive after`',
  prepare(system, scale) {
    const questions = scaled(100_000, scale);
    const next = system.ask<number, number>('next');
    const Adder = defineAdder(system);
    return async (): Promise<Outcome> => {
      const adder = system.spawn(Adder);
      let value = 0;
      for (let count = 0; count < questions; count += 1) value = await next(adder, value);
      system.stop(adder);
      return { attempted: questions, completed: value };
    };
  },
};

/** A thousand questions in flight. */
export const askConcurrent: Workload = {
  name: 'askConcurrent',
  unit: 'asks',
  prepare(system, scale) {
    const flight = 1_000;
    const flights = scaled(100, scale);
    const next = system.ask<number, number>('next');
    const Adder = defineAdder(system);
    return async (): Promise<Outcome> => {
      const adder = system.spawn(Adder);
      let answered = 0;
      for (let count = 0; count < flights; count += 1) {
        const asked = new Array<Promise<number>>(flight);
        for (let index = 0; index < flight; index += 1) asked[index] = next(adder, index);
        const answers = await Promise.all(asked);
        for (let index = 0; index < flight; index += 1) if (answers[index] === index + 1) answered += 1;
      }
      system.stop(adder);
      return { attempted: flight * flights, completed: answered };
    };
  },
};

/** A handler that returns a promise which is already resolved: the price of `async` alone. */
export const asyncHandler: Workload = {
  name: 'asyncHandler',
  unit: 'messages',
  note: 'only systems that keep one message at a time across an await; the floor is a bare `await` in a loop',
  prepare(system, scale) {
    const messages = scaled(300_000, scale);
    const step = system.tell<number>('step');
    let resolve: (value: number) => void = () => undefined;
    const Stepper = system.define({
      name: 'stepper',
      state: () => ({ steps: 0, busy: false, overlapped: false }),
      handlers: {
        async step(ctx, by: number) {
          const { state } = ctx;
          if (state.busy) state.overlapped = true;
          state.busy = true;
          await settled;
          state.busy = false;
          state.steps += by;
          if (state.steps === messages) resolve(state.overlapped ? -1 : state.steps);
        },
        steps: (ctx) => ctx.state.steps,
      },
    });
    return async (): Promise<Outcome> => {
      const stepper = system.spawn(Stepper);
      const done = new Promise<number>((open) => {
        resolve = open;
      });
      for (let count = 0; count < messages; count += 1) step(stepper, 1);
      const completed = await done;
      system.stop(stepper);
      return { attempted: messages, completed };
    };
  },
};

const settled = Promise.resolve();
