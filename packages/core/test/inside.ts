import type { ActorSystem, AnyRef } from '@troupe/core';
import type { ActorCell } from '#src/actor/actor-cell.js';
import type { Runtime } from '#src/actor/runtime.js';

/** The parts of a system that the public API keeps to itself. */
export function inside(system: ActorSystem): Runtime {
  return (system as unknown as { readonly runtime: Runtime }).runtime;
}

export function cellOf(ref: AnyRef): ActorCell {
  return (ref as unknown as { readonly cell: ActorCell }).cell;
}

/** A promise and the functions that settle it. */
export function gate<T = void>(): {
  readonly promise: Promise<T>;
  readonly open: (value: T) => void;
  readonly break: (error: unknown) => void;
} {
  let open!: (value: T) => void;
  let breakIt!: (error: unknown) => void;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    breakIt = reject;
  });
  return { promise, open, break: breakIt };
}
