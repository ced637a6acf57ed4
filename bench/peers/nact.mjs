import { dispatch, query, spawn, start, stop } from 'nact';
import { functionActors } from '../dist/adapters/function-actors.js';

export const name = 'nact';

export function open() {
  const system = start();
  let count = 0;
  return functionActors({
    // A stateful actor, because nact then handles one message at a time, also across an await.
    spawn(receive) {
      count += 1;
      return spawn(
        system,
        (state, message) => {
          const reply = receive(message);
          return reply instanceof Promise ? reply.then(() => state) : state;
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
