import type * as Core from '@troupe/core';
import type { Adapter, Ask, Behaviour, Definition, Ref, System, Tell } from './actor-system.js';

export interface TroupeOptions {
  /** Never yields to the event loop while there is work: what the time slice costs is seen beside it. */
  readonly unsliced?: boolean;
}

/** `ref.tell.name(payload)` as it stands in a user's source: a call site of its own per message. */
function compileSend(face: 'tell' | 'ask', name: string): unknown {
  return new Function('ref', 'payload', `return ref.${face}.${name}(payload);`);
}

function systemOf(core: typeof Core, options: TroupeOptions): System {
  const never = { msMin: 1e9, msMax: 1e9 };
  const system = core.createSystem({ name: 'bench', ...(options.unsliced === true && { slice: never }) });
  return {
    define<State, Args>({ name, state, handlers }: Behaviour<State, Args>): Definition {
      // A handler's context is Troupe's own: it has everything the workloads' context asks for.
      return core.defineActor(name, { state, handlers } as Core.ActorSpec<State, Args, never>);
    },
    spawn(definition, args) {
      // The workload spawns a definition with the arguments its own `state` asks for; their type is forgotten here.
      return system.spawn(definition as Core.AnyDefinition, args as undefined);
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

/** Troupe as its users have it: default mailboxes, supervision, dead letters, an ask's deadline of five seconds. */
export function troupe(options: TroupeOptions = {}): Adapter {
  return {
    name: 'troupe',
    async open() {
      const core: typeof Core = await import('@troupe/core');
      return systemOf(core, options);
    },
  };
}
