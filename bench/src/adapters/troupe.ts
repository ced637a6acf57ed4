import type * as Core from '@troupe/core';
import type { Adapter, Ask, Behaviour, Definition, Ref, System, Tell } from './actor-system.js';

export interface TroupeOptions {
  /** No yielding to the event loop while messages are queued, which shows the cost of the time slice. */
  readonly unsliced?: boolean;
}

/** Compiles `ref.tell.name(payload)` as in a user's source: one call site per message. */
function compileSend(pattern: 'tell' | 'ask', name: string): unknown {
  return new Function('ref', 'payload', `return ref.${pattern}.${name}(payload);`);
}

function systemOf(core: typeof Core, options: TroupeOptions): System {
  const never = { msMin: 1e9, msMax: 1e9 };
  const system = core.createSystem({ name: 'bench', ...(options.unsliced === true && { slice: never }) });
  return {
    define<State, Args>({ name, state, handlers }: Behaviour<State, Args>): Definition {
      // The context of Troupe's handlers has all members of the workloads' `Ctx`.
      return core.defineActor(name, { state, handlers } as Core.ActorSpec<State, Args, never>);
    },
    spawn(definition, args) {
      // Workloads spawn a definition with the arguments of its `state`, whose type is unknown here.
      return system.spawn(definition as Core.AnyDefinition, { args } as never);
    },
    stop(ref: Ref) {
      void system.stop(ref as Core.AnyRef);
    },
    tell<Payload>(name: string) {
      return compileSend('tell', name) as Tell<Payload>;
    },
    ask<Payload, Reply>(name: string) {
      return compileSend('ask', name) as Ask<Payload, Reply>;
    },
    async close() {
      await system.shutdown();
    },
  };
}

/**
 * Troupe with its defaults: bounded mailboxes, supervision, dead letters, asks with a deadline of five
 * seconds.
 */
export function troupe(options: TroupeOptions = {}): Adapter {
  return {
    name: 'troupe',
    async open() {
      const core: typeof Core = await import('@troupe/core');
      return systemOf(core, options);
    },
  };
}
