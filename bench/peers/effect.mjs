import { Effect, Queue } from 'effect';
import { functionActors } from '../dist/adapters/function-actors.js';

export const name = 'effect';
export const note = 'an unbounded Queue and a fiber that takes from it; no deadline on an ask';

export function open() {
  return functionActors({
    spawn(receive) {
      const queue = Effect.runSync(Queue.unbounded());
      const step = Effect.flatMap(Queue.take(queue), (message) => {
        receive(message);
        return Effect.void;
      });
      Effect.runFork(Effect.forever(step, { disableYield: true }));
      return queue;
    },
    tell(queue, message) {
      Queue.offerUnsafe(queue, message);
    },
    stop(queue) {
      Queue.shutdownUnsafe(queue);
    },
  });
}
