import type { ResumeCondition, SuspendReason } from '../message/suspend-reason.js';

/** How a turn ended, as middleware, events and tests see it. */
export type InvokeResult =
  | { readonly kind: 'completed'; readonly readyHint: boolean }
  | { readonly kind: 'yielded' }
  | { readonly kind: 'suspended'; readonly reason: SuspendReason; readonly resumeOn: ResumeCondition }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'stopped' };

/** The same on the hot path: one small integer. */
export type InvokeCode = 0 | 1 | 2 | 3;
export const COMPLETED = 0;
export const YIELDED = 1;
export const BLOCKED = 2;
export const STOPPED = 3;
