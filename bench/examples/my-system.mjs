// An example of an adapter for your own actor system:
//   npm run bench -- savina --adapter bench/examples/my-system.mjs --systems troupe,my-system --scale 0.1
//
// The first half is the measured system, here a queue and a microtask. The second half is the adapter that
// the runner imports. A system whose actor is one function of a message needs no more.
import { functionActors } from '../dist/adapters/function-actors.js';

class Actor {
  #receive;
  #queue = [];
  #scheduled = false;
  #stopped = false;

  constructor(receive) {
    this.#receive = receive;
  }

  send(message) {
    if (this.#stopped) return;
    this.#queue.push(message);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => this.#run());
  }

  stop() {
    this.#stopped = true;
  }

  #run() {
    const batch = this.#queue;
    this.#queue = [];
    this.#scheduled = false;
    for (const message of batch) if (!this.#stopped) this.#receive(message);
  }
}

export const name = 'my-system';
export const note = 'an example: unbounded, unsupervised, and it starves the event loop';

export function open() {
  return functionActors({
    spawn: (receive) => new Actor(receive),
    tell: (actor, message) => actor.send(message),
    stop: (actor) => actor.stop(),
  });
}
