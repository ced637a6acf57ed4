import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';
import { busyWork } from '../busy-work.js';

const waitingRoom = 1_000;
const arrivalSteps = 1_000;
const haircutSteps = 1_000;

interface Street {
  readonly random: SeededRandom;
  readonly room: Ref;
  readonly queue: Ref[];
  walking: boolean;
  idled: number;
}

interface Room {
  readonly chairs: Ref[];
  barber: Ref | undefined;
  asleep: boolean;
}

/** A barber, a waiting room, and customers that return later if it is full. */
export const barber: Workload = {
  name: 'barber',
  unit: 'haircuts',
  note: 'customers arrive and return one per message of the street: on one thread the retry loop of Savina would spin while the barber waits to run',
  prepare(system, scale) {
    const haircuts = scaled(5_000, scale);
    const open = system.tell<Ref>('open');
    const arrive = system.tell('arrive');
    const returned = system.tell<Ref>('returned');
    const enter = system.tell<Ref>('enter');
    const free = system.tell('free');
    const cut = system.tell<Ref>('cut');
    const full = system.tell('full');
    const start = system.tell('start');
    const finish = system.tell('finish');
    let done = new Deferred();
    let cuts = 0;
    let started = 0;
    let most = 0;
    const WaitingRoom = system.define({
      name: 'waiting-room',
      state: (): Room => ({ chairs: [], barber: undefined, asleep: true }),
      handlers: {
        open(ctx, worker: Ref) {
          ctx.state.barber = worker;
        },
        enter(ctx, customer: Ref) {
          const { state } = ctx;
          if (state.chairs.length === waitingRoom) {
            full(customer);
            return;
          }
          state.chairs.push(customer);
          most = Math.max(most, state.chairs.length);
          if (!state.asleep) return;
          state.asleep = false;
          free(ctx.self);
        },
        free(ctx) {
          const { state } = ctx;
          const customer = state.chairs.shift();
          if (customer === undefined || state.barber === undefined) state.asleep = true;
          else cut(state.barber, customer);
        },
      },
    });
    const Barber = system.define({
      name: 'barber',
      state: (room: Ref) => ({ room, random: new SeededRandom(7), worked: 0 }),
      handlers: {
        cut(ctx, customer: Ref) {
          const { state } = ctx;
          start(customer);
          state.worked += busyWork(state.random, state.random.below(haircutSteps) + 10);
          finish(customer);
          free(state.room);
        },
      },
    });
    const Customer = system.define({
      name: 'customer',
      state: (street: Ref) => ({ street, sitting: false }),
      handlers: {
        full(ctx) {
          returned(ctx.state.street, ctx.self);
        },
        start(ctx) {
          ctx.state.sitting = true;
          started += 1;
        },
        finish(ctx) {
          if (ctx.state.sitting) cuts += 1;
          ctx.stop();
          if (cuts === haircuts) done.resolve();
        },
      },
    });
    const Street = system.define({
      name: 'street',
      state: (room: Ref): Street => ({
        random: new SeededRandom(3),
        room,
        queue: [],
        walking: false,
        idled: 0,
      }),
      handlers: {
        returned(ctx, customer: Ref) {
          const { state } = ctx;
          state.queue.push(customer);
          if (state.walking) return;
          state.walking = true;
          arrive(ctx.self);
        },
        arrive(ctx) {
          const { state } = ctx;
          const customer = state.queue.shift();
          state.walking = customer !== undefined;
          if (customer === undefined) return;
          enter(state.room, customer);
          state.idled += busyWork(state.random, state.random.below(arrivalSteps) + 10);
          arrive(ctx.self);
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      cuts = 0;
      started = 0;
      most = 0;
      const room = system.spawn(WaitingRoom);
      const worker = system.spawn(Barber, room);
      open(room, worker);
      const street = system.spawn(Street, room);
      for (let count = 0; count < haircuts; count += 1) returned(street, system.spawn(Customer, street));
      await done.promise;
      for (const ref of [room, worker, street]) system.stop(ref);
      return { attempted: haircuts, completed: cuts, oracle: started === haircuts && most <= waitingRoom };
    };
  },
};
