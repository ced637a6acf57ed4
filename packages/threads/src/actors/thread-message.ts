import type { ThreadSettings } from '@troupe/core';
import type { CarrierSpec, PeerEnds } from './node-thread-carrier.js';

/** The data that a thread starts with. */
export interface ThreadData {
  readonly carrier: CarrierSpec;
  readonly settings: ThreadSettings;
  /** The module of its middleware. */
  readonly middleware: string | undefined;
}

/** From the main thread to another. The error is packed. */
export type ThreadMessage =
  | { readonly kind: 'replaced'; readonly ends: PeerEnds; readonly error: unknown }
  | { readonly kind: 'close' };
