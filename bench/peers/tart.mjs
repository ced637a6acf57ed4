import tart from 'tart';
import { functionActors } from '../dist/adapters/function-actors.js';

export const name = 'tart';
export const note = 'actors are never stopped, only collected; no deadline on an ask';

export function open() {
  const sponsor = tart.minimal({
    fail(error) {
      throw error;
    },
  });
  return functionActors({
    spawn: (receive) => sponsor(receive),
    tell(actor, message) {
      actor(message);
    },
    stop() {
      // tart has no stop: an unreachable actor is garbage.
    },
  });
}
