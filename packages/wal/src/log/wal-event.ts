import type { Damage } from '../wal-error.js';

/** Events for operators. None of them stops the log. */
export type WalEvent =
  | { readonly kind: 'torn-tail'; readonly file: string; readonly offset: number; readonly bytes: number }
  /** The kernel's lock on the directory is not held: only LOCK and the epoch keep a second process out. */
  | { readonly kind: 'lock-unavailable'; readonly reason: string }
  | { readonly kind: 'snapshot-fallback'; readonly reason: string }
  | { readonly kind: 'sync-slow'; readonly ms: number }
  | { readonly kind: 'disk-low'; readonly freeBytes: number | undefined; readonly errno: string | undefined }
  | { readonly kind: 'disk-ok' }
  | { readonly kind: 'callback-threw'; readonly error: unknown }
  | { readonly kind: 'snapshot-made'; readonly lsn: number; readonly bytes: number; readonly ms: number }
  | { readonly kind: 'snapshot-failed'; readonly error: unknown; readonly consecutiveFailures: number }
  | { readonly kind: 'scrub-finished'; readonly files: number; readonly bytes: number }
  | { readonly kind: 'scrub-damage'; readonly damage: Damage };
