/** Why an actor handles no messages. */
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
