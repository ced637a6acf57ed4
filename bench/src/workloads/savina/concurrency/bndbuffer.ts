import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';
import { busyWork } from '../busy-work.js';

const bufferSize = 50;
const producers = 40;
const consumers = 40;
const cost = 25;

interface Item {
  readonly from: Ref;
  readonly value: number;
}

interface Buffer {
  readonly items: Item[];
  readonly idle: Ref[];
  readonly blocked: Ref[];
  exited: number;
  lengthMax: number;
}

/** A manager bounds the buffer between forty producers and forty consumers. */
export const bndbuffer: Workload = {
  name: 'bndbuffer',
  unit: 'items',
  prepare(system, scale) {
    const each = scaled(1_000, scale);
    const produce = system.tell('produce');
    const item = system.tell<Item>('item');
    const ready = system.tell<Ref>('ready');
    const exited = system.tell('exited');
    const consume = system.tell<Item>('consume');
    let done = new Deferred<number>();
    let consumed = 0;
    const finishIfDone = (state: Buffer): void => {
      const drained = state.exited === producers && state.items.length === 0;
      if (drained && state.idle.length === consumers) done.resolve(state.lengthMax);
    };
    const Manager = system.define({
      name: 'buffer',
      state: (): Buffer => ({ items: [], idle: [], blocked: [], exited: 0, lengthMax: 0 }),
      handlers: {
        item(ctx, made: Item) {
          const { state } = ctx;
          const consumer = state.idle.pop();
          if (consumer === undefined) state.items.push(made);
          else consume(consumer, made);
          state.lengthMax = Math.max(state.lengthMax, state.items.length);
          // Space is reserved for one item of every producer that is already producing.
          if (state.items.length >= bufferSize - producers) state.blocked.push(made.from);
          else produce(made.from);
        },
        ready(ctx, consumer: Ref) {
          const { state } = ctx;
          const next = state.items.shift();
          if (next === undefined) state.idle.push(consumer);
          else {
            consume(consumer, next);
            const blocked = state.blocked.pop();
            if (blocked !== undefined) produce(blocked);
          }
          finishIfDone(state);
        },
        exited(ctx) {
          ctx.state.exited += 1;
          finishIfDone(ctx.state);
        },
      },
    });
    const Producer = system.define({
      name: 'buffer-producer',
      state: ({ manager, seed }: { manager: Ref; seed: number }) => ({
        manager,
        random: new SeededRandom(seed),
        left: each,
        made: 0,
      }),
      handlers: {
        produce(ctx) {
          const { state } = ctx;
          if (state.left === 0) {
            exited(state.manager);
            ctx.stop();
            return;
          }
          state.left -= 1;
          state.made = busyWork(state.random, cost);
          item(state.manager, { from: ctx.self, value: state.made });
        },
      },
    });
    const Consumer = system.define({
      name: 'buffer-consumer',
      state: ({ manager, seed }: { manager: Ref; seed: number }) => ({
        manager,
        random: new SeededRandom(seed),
        sum: 0,
      }),
      handlers: {
        consume(ctx, { value }: Item) {
          const { state } = ctx;
          state.sum += value + busyWork(state.random, cost);
          consumed += 1;
          ready(state.manager, ctx.self);
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      consumed = 0;
      const manager = system.spawn(Manager);
      const consumerRefs = Array.from({ length: consumers }, (_, index) =>
        system.spawn(Consumer, { manager, seed: 1_000 + index }),
      );
      for (const consumer of consumerRefs) ready(manager, consumer);
      for (let seed = 1; seed <= producers; seed += 1) produce(system.spawn(Producer, { manager, seed }));
      const lengthMax = await done.promise;
      for (const ref of [manager, ...consumerRefs]) system.stop(ref);
      return { attempted: producers * each, completed: consumed, oracle: lengthMax <= bufferSize };
    };
  },
};
