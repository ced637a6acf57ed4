import type { PhaseHooks } from './actor-definition.js';
import type { FixedLayout } from './fixed-layout.js';

/** The parameters of a handler after its context. */
type Payloads<F> = F extends (ctx: never, ...payload: infer P) => unknown ? P : never;

/** The mistake in the signature of a handler, as the text of the compiler's error; never without one. */
type MistakeIn<F> =
  Payloads<F> extends readonly []
    ? never
    : Payloads<F> extends readonly [payload?: infer P]
      ? [P] extends [never]
        ? 'annotate the payload: (ctx, payload: Payload) => …'
        : never
      : 'a handler takes one payload: put the values into one object';

/**
 * A constraint of a handler map by itself: a handler with a mistake in its signature is not assignable to the
 * text that says so. The marker stands in the constraint alone: the compiler falls back to the constraint
 * after such an error, and the methods of a ref then accept everything, so one mistake is one error.
 */
export type CheckedHandlers<H> = {
  readonly [K in keyof H as [MistakeIn<H[K]>] extends [never] ? never : K]: MistakeIn<H[K]>;
} & { readonly '~mistake'?: true };

export type CheckedPhases<P> = {
  readonly [Name in keyof P]: CheckedHandlers<P[Name]> & CheckedPhaseHooks<P[Name]>;
};

type CheckedPhaseHooks<H> = {
  readonly [K in keyof H & keyof PhaseHooks<never> as Payloads<H[K]> extends readonly []
    ? never
    : K]: 'a hook of a phase has no payload: (ctx) => …';
};

/** A constraint of handlers with layouts: each has the payload that its layout has. */
export type LaidOutHandlers<H, L> = {
  readonly [K in keyof H & keyof L as IsLayout<L[K], H[K]> extends true
    ? never
    : K]: 'its layout is not that of its payload';
};

type IsLayout<Layout, F> = F extends (ctx: never, payload: infer Payload) => unknown
  ? Layout extends FixedLayout<Payload>
    ? [keyof Layout] extends [keyof FixedLayout<Payload>]
      ? true
      : false
    : false
  : false;
