import type { SessionRefusalCode } from '../jobs-error.js';

/** Messages that a leader has for clients and workers alike. */
export type SessionMessage =
  /** The session is over: no message on it counts. */
  | { readonly kind: 'refused'; readonly code: SessionRefusalCode; readonly problem: string }
  | { readonly kind: 'heartbeat' };
