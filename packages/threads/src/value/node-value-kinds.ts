import { Blob } from 'node:buffer';
import { KeyObject, X509Certificate } from 'node:crypto';
import { MessagePort } from 'node:worker_threads';

/** Values that only a port can carry. */
export function isBeside(object: object): boolean {
  return (
    object instanceof SharedArrayBuffer ||
    object instanceof MessagePort ||
    object instanceof Blob ||
    object instanceof KeyObject ||
    object instanceof X509Certificate
  );
}

/** Values that no thread can receive. */
export function isRefused(object: object): boolean {
  return (
    object instanceof Promise ||
    object instanceof WeakMap ||
    object instanceof WeakSet ||
    object instanceof WeakRef
  );
}
