import { createActor, fromTransition } from 'xstate';
import { functionActors } from '../dist/adapters/function-actors.js';

export const name = 'xstate';
export const note = 'handled synchronously in the caller’s stack; no deadline on an ask';

export function open() {
  return functionActors({
    spawn(receive) {
      // fromTransition is XState's lightest actor; its machines are about ten times slower.
      const logic = fromTransition((state, event) => {
        receive(event);
        return state;
      }, undefined);
      return createActor(logic).start();
    },
    tell(actor, message) {
      actor.send(message);
    },
    stop(actor) {
      actor.stop();
    },
  });
}
