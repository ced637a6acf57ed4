import type { ActorContext, ActorSystem, AnyRef, HandlerMap, RefOf, SendMethods } from '@troupe/core';
import type { ActorCell } from '#src/actor/actor-cell.js';
import type { Runtime } from '#src/runtime.js';

/** The runtime behind a system, which the public API does not show. */
export function runtimeOf(system: ActorSystem): Runtime {
  return (system as unknown as { readonly runtime: Runtime }).runtime;
}

/** The cell behind a ref. */
export function cellOf(ref: AnyRef): ActorCell {
  return (ref as unknown as { readonly cell: ActorCell }).cell;
}

/** `send` in the name of an actor, also after an `await`. */
export function sendAs<H extends HandlerMap>(ctx: ActorContext<never>, ref: RefOf<H>): SendMethods<H> {
  const cell = ctx as unknown as ActorCell;
  const { ready } = cell.type.runtime;
  return new Proxy(ref.send as Record<string, (payload: unknown) => Promise<void>>, {
    get: (methods, message: string) => (payload: unknown) => {
      const { running } = ready;
      ready.running = cell.slot;
      try {
        return methods[message]?.(payload);
      } finally {
        ready.running = running;
      }
    },
  }) as SendMethods<H>;
}
