import { dispatch, query, spawn, start, stop } from 'nact';
import { functionActors } from '../dist/adapters/function-actors.js';

export const name = 'nact';

export function open() {
  const system = start();
  let count = 0;
  return functionActors({
    // A stateful actor: nact handles its messages one at a time, also across an await. The state is ours.
    spawn(receive) {
      count += 1;
      return spawn(
        system,
        (state, message) => {
          const answer = receive(message);
          return answer instanceof Promise ? answer.then(() => state) : state;
        },
        `a${count}`,
        { initialState: system },
      );
    },
    tell: dispatch,
    stop,
    ask: (actor, type, payload) =>
      query(actor, (asker) => ({ type, payload, reply: (value) => dispatch(asker, value) }), 5_000),
    close: () => stop(system),
  });
}
