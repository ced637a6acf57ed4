// Hot path: no allocation per message.
import type { Adapter, Ask, Behaviour, Ctx, Definition, Ref, System, Tell } from './actor-system.js';

/*
 * The floor is the baseline: one ring of (handler, context, payload) and a call through a field. It has no
 * status, bounds, isolation of failures, fairness or yielding. No system that delivers a message after the
 * send returns can do less, so the floor shows the limit of the machine.
 */

type Call = (ctx: FloorActor, payload: unknown) => unknown;
type Calls = Readonly<Record<string, Call>>;

let mask = (1 << 16) - 1;
let calls: (Call | undefined)[] = new Array(mask + 1).fill(undefined);
let actors: (FloorActor | undefined)[] = new Array(mask + 1).fill(undefined);
let payloads: unknown[] = new Array(mask + 1).fill(undefined);
let head = 0;
let tail = 0;
let armed = false;
const settled = Promise.resolve();

function push(call: Call, actor: FloorActor, payload: unknown): void {
  const at = tail;
  calls[at] = call;
  actors[at] = actor;
  payloads[at] = payload;
  tail = (at + 1) & mask;
  if (tail === head) grow();
  if (!armed) {
    armed = true;
    void settled.then(drain);
  }
}

function unroll<T>(ring: readonly T[]): T[] {
  return ring.slice(head).concat(ring.slice(0, head), new Array(ring.length).fill(undefined));
}

function grow(): void {
  calls = unroll(calls);
  actors = unroll(actors);
  payloads = unroll(payloads);
  head = 0;
  tail = mask + 1;
  mask = calls.length - 1;
}

function drain(): void {
  while (head !== tail) {
    const at = head;
    const call = calls[at];
    const actor = actors[at];
    const payload = payloads[at];
    calls[at] = undefined;
    actors[at] = undefined;
    payloads[at] = undefined;
    head = (at + 1) & mask;
    if (call !== undefined && actor !== undefined) call(actor, payload);
  }
  armed = false;
}

class FloorDefinition {
  readonly state: (args: unknown) => unknown;
  readonly handlers: Calls;

  constructor(state: (args: unknown) => unknown, handlers: Calls) {
    this.state = state;
    this.handlers = handlers;
  }
}

/** Address and context in one object: the state and the handlers of the actor. */
class FloorActor implements Ctx {
  readonly state: unknown;
  handlers: Calls;

  constructor(state: unknown, handlers: Calls) {
    this.state = state;
    this.handlers = handlers;
  }

  get self(): Ref {
    return this;
  }

  stop(): void {
    this.handlers = {};
  }

  spawn(definition: Definition, args?: unknown): Ref {
    return spawn(definition, args);
  }
}

function spawn(definition: Definition, args?: unknown): Ref {
  if (!(definition instanceof FloorDefinition)) throw new TypeError('not a definition of this system');
  return new FloorActor(definition.state(args), definition.handlers);
}

/** Compiled, so that `handlers.name` is a property load with its own call site, as in source code. */
function compileTell(name: string): Tell<unknown> {
  const make = new Function('push', `return (to, payload) => push(to.handlers.${name}, to, payload);`);
  return make(push) as Tell<unknown>;
}

function ask(name: string): Ask<unknown, unknown> {
  return (to, payload) =>
    new Promise((resolve) => {
      const actor = to as FloorActor;
      push((ctx, question) => resolve(actor.handlers[name]?.(ctx, question)), actor, payload);
    });
}

const system: System = {
  define<State, Args>(behaviour: Behaviour<State, Args>): Definition {
    // Workloads spawn a definition with the arguments of its `state` and send the payloads of its handlers.
    return new FloorDefinition(
      behaviour.state as (args: unknown) => unknown,
      behaviour.handlers as unknown as Calls,
    );
  },
  spawn,
  stop(ref) {
    (ref as FloorActor).stop();
  },
  tell<Payload>(name: string) {
    return compileTell(name) as Tell<Payload>;
  },
  ask<Payload, Reply>(name: string) {
    return ask(name) as Ask<Payload, Reply>;
  },
  close() {
    head = tail;
  },
};

export const floor: Adapter = {
  name: 'floor',
  note: 'a ring and a function call: no bounds, supervision, fairness or yielding',
  open: () => system,
};
