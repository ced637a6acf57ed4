import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const creatures = 100;
/** The colour after a meeting: the common colour, or the third of two different ones. */
const mix = (own: number, other: number): number => (own === other ? own : 3 - own - other);

interface Meeting {
  readonly from: Ref;
  readonly colour: number;
}

interface Mall {
  readonly done: Deferred<number>;
  waiting: Ref | undefined;
  left: number;
  counted: number;
  gone: number;
}

interface Creature {
  readonly mall: Ref;
  colour: number;
  meetings: number;
}

/** A hundred creatures contend for one meeting place. */
export const chameneos: Workload = {
  name: 'chameneos',
  unit: 'meetings',
  prepare(system, scale) {
    const meetings = scaled(200_000, scale);
    const arrive = system.tell<Meeting>('arrive');
    const meet = system.tell<Meeting>('meet');
    const change = system.tell<number>('change');
    const enter = system.tell('enter');
    const close = system.tell('close');
    const gone = system.tell<number>('gone');
    const Place = system.define({
      name: 'mall',
      state: (done: Deferred<number>): Mall => ({
        done,
        waiting: undefined,
        left: meetings,
        counted: 0,
        gone: 0,
      }),
      handlers: {
        arrive(ctx, meeting: Meeting) {
          const { state } = ctx;
          if (state.left === 0) close(meeting.from);
          else if (state.waiting === undefined) state.waiting = meeting.from;
          else {
            state.left -= 1;
            meet(state.waiting, meeting);
            state.waiting = undefined;
          }
        },
        gone(ctx, count: number) {
          const { state } = ctx;
          state.counted += count;
          state.gone += 1;
          if (state.gone < creatures) return;
          state.done.resolve(state.counted);
          ctx.stop();
        },
      },
    });
    const Chameneo = system.define({
      name: 'chameneo',
      state: ({ mall, colour }: { mall: Ref; colour: number }): Creature => ({ mall, colour, meetings: 0 }),
      handlers: {
        enter(ctx) {
          arrive(ctx.state.mall, { from: ctx.self, colour: ctx.state.colour });
        },
        meet(ctx, meeting: Meeting) {
          const { state } = ctx;
          state.colour = mix(state.colour, meeting.colour);
          state.meetings += 1;
          change(meeting.from, state.colour);
          arrive(state.mall, { from: ctx.self, colour: state.colour });
        },
        change(ctx, colour: number) {
          const { state } = ctx;
          state.colour = colour;
          state.meetings += 1;
          arrive(state.mall, { from: ctx.self, colour });
        },
        close(ctx) {
          gone(ctx.state.mall, ctx.state.meetings);
          ctx.stop();
        },
      },
    });
    return async (): Promise<Outcome> => {
      const done = new Deferred<number>();
      const mall = system.spawn(Place, done);
      for (let index = 0; index < creatures; index += 1) {
        enter(system.spawn(Chameneo, { mall, colour: index % 3 }));
      }
      const counted = await done.promise;
      return { attempted: meetings, completed: counted / 2, oracle: counted === 2 * meetings };
    };
  },
};
