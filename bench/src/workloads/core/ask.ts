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

/** One ask at a time, each with a deadline; the next one follows the reply. */
export const ask: Workload = {
  name: 'ask',
  unit: 'asks',
  note: 'tart, xstate, effect and the floor have no deadline to arm; Erlang: plain processes with `receive after`',
  prepare(system, scale) {
    const asks = scaled(100_000, scale);
    const next = system.ask<number, number>('next');
    const Adder = defineAdder(system);
    return async (): Promise<Outcome> => {
      const adder = system.spawn(Adder);
      let value = 0;
      for (let count = 0; count < asks; count += 1) value = await next(adder, value);
      system.stop(adder);
      return { attempted: asks, completed: value };
    };
  },
};

/** A thousand asks in flight. */
export const askConcurrent: Workload = {
  name: 'askConcurrent',
  unit: 'asks',
  prepare(system, scale) {
    const inFlight = 1_000;
    const rounds = scaled(100, scale);
    const next = system.ask<number, number>('next');
    const Adder = defineAdder(system);
    return async (): Promise<Outcome> => {
      const adder = system.spawn(Adder);
      let answered = 0;
      for (let count = 0; count < rounds; count += 1) {
        const replies = new Array<Promise<number>>(inFlight);
        for (let index = 0; index < inFlight; index += 1) replies[index] = next(adder, index);
        const values = await Promise.all(replies);
        for (let index = 0; index < inFlight; index += 1) if (values[index] === index + 1) answered += 1;
      }
      system.stop(adder);
      return { attempted: inFlight * rounds, completed: answered };
    };
  },
};

/** A handler that returns an already resolved promise: the cost of `async` alone. */
export const asyncHandler: Workload = {
  name: 'asyncHandler',
  unit: 'messages',
  note: 'only systems that keep one message at a time across an await; the floor is a plain `await` in a loop',
  prepare(system, scale) {
    const messages = scaled(300_000, scale);
    // Code outside actors cannot be muted: more than 64,000 waiting messages would become dead letters.
    const batch = Math.min(messages, 50_000);
    const step = system.tell<number>('step');
    let target = 0;
    let resolve: (value: number) => void = () => undefined;
    const Stepper = system.define({
      name: 'stepper',
      state: () => ({ steps: 0, busy: false, overlapped: false }),
      handlers: {
        async step(ctx, by: number) {
          const { state } = ctx;
          if (state.busy) state.overlapped = true;
          state.busy = true;
          await resolved;
          state.busy = false;
          state.steps += by;
          if (state.steps === target) resolve(state.overlapped ? -1 : state.steps);
        },
        steps: (ctx) => ctx.state.steps,
      },
    });
    return async (): Promise<Outcome> => {
      const stepper = system.spawn(Stepper);
      let completed = 0;
      for (let sent = 0; sent < messages && completed === sent; ) {
        target = Math.min(messages, sent + batch);
        const done = new Promise<number>((resolvePromise) => {
          resolve = resolvePromise;
        });
        for (; sent < target; sent += 1) step(stepper, 1);
        completed = await done;
      }
      system.stop(stepper);
      return { attempted: messages, completed };
    };
  },
};

const resolved = Promise.resolve();
