import type { Ask, Behaviour, Ctx, Definition, Handler, Ref, System, Tell } from './actor-system.js';

/** The usual message format of systems whose actor is one function. */
export interface Message {
  readonly type: string;
  readonly payload: unknown;
  /** Present on an ask, in systems without an ask of their own. */
  readonly reply?: (value: unknown) => void;
}

/** An actor system whose actor is one function of a message. */
export interface FunctionSystem<Actor extends object> {
  spawn(receive: (message: Message) => unknown): Actor;
  tell(actor: Actor, message: Message): void;
  stop(actor: Actor): void;
  /** The ask of the system, with its deadline; without it a promise that the handler resolves. */
  ask?(actor: Actor, type: string, payload: unknown): Promise<unknown>;
  close?(): Promise<void> | void;
}

type Receive = (ctx: Ctx, message: Message) => unknown;

class FunctionDefinition {
  readonly state: (args: unknown) => unknown;
  readonly receive: Receive;

  constructor(state: (args: unknown) => unknown, receive: Receive) {
    this.state = state;
    this.receive = receive;
  }
}

class FunctionCtx implements Ctx {
  readonly state: unknown;
  self: Ref;
  private readonly system: System;

  constructor(state: unknown, system: System) {
    this.state = state;
    this.self = this;
    this.system = system;
  }

  stop(): void {
    this.system.stop(this.self);
  }

  spawn(definition: Definition, args?: unknown): Ref {
    return this.system.spawn(definition, args);
  }
}

/**
 * Builds the `switch (message.type)` that users of such systems write. Compiled per definition, so that every
 * actor type has its own call sites, as in its own source file.
 */
function compileReceive(handlers: Readonly<Record<string, Handler<never>>>): Receive {
  const names = Object.keys(handlers);
  const cases = names.map(
    (name, index) => `case ${JSON.stringify(name)}: reply = h${index}(ctx, message.payload); break;`,
  );
  const body = `return (ctx, message) => {
    let reply;
    switch (message.type) { ${cases.join(' ')} default: return undefined; }
    if (message.reply !== undefined) message.reply(reply);
    return reply;
  };`;
  const make = new Function(...names.map((_, index) => `h${index}`), body);
  return make(...names.map((name) => handlers[name])) as Receive;
}

/** The adapter of a system whose actors are functions. */
export function functionActors<Actor extends object>(own: FunctionSystem<Actor>): System {
  const system: System = {
    define<State, Args>(behaviour: Behaviour<State, Args>): Definition {
      // Workloads spawn a definition with the arguments of its `state`.
      return new FunctionDefinition(
        behaviour.state as (args: unknown) => unknown,
        compileReceive(behaviour.handlers),
      );
    },
    spawn(definition, args) {
      if (!(definition instanceof FunctionDefinition)) throw new TypeError('not a definition of this system');
      const ctx = new FunctionCtx(definition.state(args), system);
      const receive = definition.receive;
      const actor = own.spawn((message) => receive(ctx, message));
      ctx.self = actor;
      return actor;
    },
    stop(ref) {
      own.stop(ref as Actor);
    },
    tell<Payload>(type: string): Tell<Payload> {
      const withoutPayload: Message = { type, payload: undefined };
      const tell = own.tell;
      return (to, payload) => tell(to as Actor, payload === undefined ? withoutPayload : { type, payload });
    },
    ask<Payload, Reply>(type: string): Ask<Payload, Reply> {
      const ask = own.ask;
      if (ask !== undefined) return (to, payload) => ask(to as Actor, type, payload) as Promise<Reply>;
      return (to, payload) =>
        new Promise<Reply>((resolve) => {
          own.tell(to as Actor, { type, payload, reply: (value) => resolve(value as Reply) });
        });
    },
    close: () => own.close?.(),
  };
  return system;
}
