import type { ActorSystem, AnyRef } from '@troupe/core';
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
