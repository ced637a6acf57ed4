import type { Ref, System } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';
import { type Outcome, scaled, type Workload } from '../workload.js';

/** One producer fills the mailbox of one counter, which then handles all messages. */
export function countingOf(name: string, size: number): Workload {
  return { name, unit: 'messages', prepare: (system, scale) => prepare(system, scaled(size, scale)) };
}

function prepare(system: System, messages: number): () => Promise<Outcome> {
  const add = system.tell<number>('add');
  const report = system.tell<Deferred<number>>('report');
  const produce = system.tell<{ counter: Ref; done: Deferred<number> }>('produce');
  const Counter = system.define({
    name: 'counter',
    state: () => ({ total: 0 }),
    handlers: {
      add(ctx, by: number) {
        ctx.state.total += by;
      },
      report(ctx, done: Deferred<number>) {
        done.resolve(ctx.state.total);
        ctx.stop();
      },
    },
  });
  const Producer = system.define({
    name: 'producer',
    state: () => ({}),
    handlers: {
      produce(ctx, { counter, done }: { counter: Ref; done: Deferred<number> }) {
        for (let sent = 0; sent < messages; sent += 1) add(counter, 1);
        report(counter, done);
        ctx.stop();
      },
    },
  });
  return async () => {
    const done = new Deferred<number>();
    produce(system.spawn(Producer), { counter: system.spawn(Counter), done });
    const completed = await done.promise;
    return { attempted: messages, completed, oracle: completed === messages };
  };
}
