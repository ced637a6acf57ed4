/**
 * Why an actor handles no messages.
 *
 *   awaiting      its asynchronous handler or hook has not settled
 *   backpressure  it is muted: a mailbox that it sends to is full
 *   rate-limit    the middleware of that name holds its messages back
 *   fault         it has failed, and its parent has not yet acted
 *   operator      `system.suspend(ref)` without a reason
 *   { user }      the reason that was given to `ctx.suspend` or `system.suspend`
 */
export type SuspendReason =
  | 'awaiting'
  | 'backpressure'
  | 'rate-limit'
  | 'fault'
  | 'operator'
  | { readonly user: string };

/** The condition that ends a suspension. */
export type ResumeCondition =
  | { readonly on: 'event'; readonly key: string }
  | { readonly on: 'after'; readonly ms: number }
  | { readonly on: 'capacity' }
  | { readonly on: 'settled' }
  | { readonly on: 'resume' };
