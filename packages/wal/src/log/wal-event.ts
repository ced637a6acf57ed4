import type { Damage } from '../wal-error.js';

/** Events for operators. None of them stops the log. */
export type WalEvent =
  /** The opening cut an unfinished batch at the end of the log; the bytes are in quarantine/. */
  | { readonly kind: 'torn-tail'; readonly file: string; readonly offset: number; readonly bytes: number }
  /** The kernel's lock on the directory is not held: only LOCK and the epoch keep a second process out. */
  | { readonly kind: 'lock-unavailable'; readonly reason: string }
  /** The directory is on a network file system, which was allowed. */
  | { readonly kind: 'network-file-system'; readonly fileSystem: string }
  /** The newest snapshot could not be read, so that an older one was taken. */
  | { readonly kind: 'snapshot-fallback'; readonly reason: string }
  /** A write took `ms` until now and has not ended. */
  | { readonly kind: 'sync-slow'; readonly ms: number }
  /** Only essential appends are accepted until there is more space. */
  | { readonly kind: 'disk-low'; readonly freeBytes: number | undefined; readonly errno: string | undefined }
  /** There is space again. */
  | { readonly kind: 'disk-ok' }
  /** A callback of an append threw; the log goes on. */
  | { readonly kind: 'callback-threw'; readonly error: unknown }
  /** A snapshot up to `lsn` is durable. */
  | { readonly kind: 'snapshot-made'; readonly lsn: number; readonly bytes: number; readonly ms: number }
  /** No snapshot was made; the next try comes later. */
  | { readonly kind: 'snapshot-failed'; readonly error: unknown; readonly consecutiveFailures: number }
  /** All sealed files were read. */
  | { readonly kind: 'scrub-finished'; readonly files: number; readonly bytes: number }
  /** A sealed file is damaged. */
  | { readonly kind: 'scrub-damage'; readonly damage: Damage };
