import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const actors = 120;

interface Ping {
  readonly from: Ref;
  readonly index: number;
}

interface Member {
  readonly index: number;
  readonly random: SeededRandom;
  readonly peers: readonly Ref[];
  left: number;
  expected: number;
  pongs: number;
  wrong: number;
}

/** All actors ping random others: all-to-all contention. */
export const big: Workload = {
  name: 'big',
  unit: 'messages',
  prepare(system, scale) {
    const pings = scaled(20_000, scale);
    const start = system.tell('start');
    const ping = system.tell<Ping>('ping');
    const pong = system.tell<number>('pong');
    let done = new Deferred();
    let finished = 0;
    let pongs = 0;
    let wrong = 0;
    const next = (state: Member, self: Ref): void => {
      state.left -= 1;
      state.expected = state.random.below(actors);
      const peer = state.peers[state.expected];
      if (peer !== undefined) ping(peer, { from: self, index: state.index });
    };
    const Pinger = system.define({
      name: 'big',
      state: ({ index, peers }: { index: number; peers: readonly Ref[] }): Member => ({
        index,
        peers,
        random: new SeededRandom(index + 1),
        left: pings,
        expected: -1,
        pongs: 0,
        wrong: 0,
      }),
      handlers: {
        start(ctx) {
          next(ctx.state, ctx.self);
        },
        ping(ctx, { from }: Ping) {
          pong(from, ctx.state.index);
        },
        pong(ctx, from: number) {
          const { state } = ctx;
          state.pongs += 1;
          if (from !== state.expected) state.wrong += 1;
          if (state.left > 0) {
            next(state, ctx.self);
            return;
          }
          finished += 1;
          pongs += state.pongs;
          wrong += state.wrong;
          if (finished === actors) done.resolve();
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      finished = 0;
      pongs = 0;
      wrong = 0;
      const peers: Ref[] = [];
      for (let index = 0; index < actors; index += 1) peers.push(system.spawn(Pinger, { index, peers }));
      for (const peer of peers) start(peer);
      await done.promise;
      for (const peer of peers) system.stop(peer);
      return { attempted: 2 * pings * actors, completed: 2 * pongs, oracle: wrong === 0 };
    };
  },
};
