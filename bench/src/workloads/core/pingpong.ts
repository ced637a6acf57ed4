import type { Ref, System } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';
import { type Outcome, scaled, type Workload } from '../workload.js';

interface Pinger {
  readonly done: Deferred;
  peer: Ref | undefined;
  left: number;
  pongs: number;
}

/** Two actors with one message in flight: the cost of a wake-up. */
export function pingpongOf(name: string, size: number): Workload {
  return { name, unit: 'messages', prepare: (system, scale) => prepare(system, scaled(size, scale)) };
}

function prepare(system: System, exchanges: number): () => Promise<Outcome> {
  const serve = system.tell<Ref>('serve');
  const ping = system.tell<Ref>('ping');
  const pong = system.tell('pong');
  const end = system.tell('end');
  const Ping = system.define({
    name: 'pinger',
    state: (done: Deferred): Pinger => ({ done, peer: undefined, left: exchanges, pongs: 0 }),
    handlers: {
      serve(ctx, peer: Ref) {
        ctx.state.peer = peer;
        ctx.state.left -= 1;
        ping(peer, ctx.self);
      },
      pong(ctx) {
        const { state } = ctx;
        state.pongs += 1;
        if (state.peer === undefined) return;
        if (state.left > 0) {
          state.left -= 1;
          ping(state.peer, ctx.self);
          return;
        }
        end(state.peer);
        state.done.resolve();
        ctx.stop();
      },
    },
  });
  let pings = 0;
  const Pong = system.define({
    name: 'ponger',
    state: () => ({ pings: 0 }),
    handlers: {
      ping(ctx, from: Ref) {
        ctx.state.pings += 1;
        pong(from);
      },
      end(ctx) {
        pings = ctx.state.pings;
        ctx.stop();
      },
    },
  });
  return async () => {
    const done = new Deferred();
    const ponger = system.spawn(Pong);
    serve(system.spawn(Ping, done), ponger);
    await done.promise;
    await nextLoopTurn();
    // The last pong arrives only after all pings were answered.
    return { attempted: 2 * exchanges, completed: 2 * pings, oracle: pings === exchanges };
  };
}

/** Time for the delivery of `end` in systems where the caller resumes before it. */
function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
