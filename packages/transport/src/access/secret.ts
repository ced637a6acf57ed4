import { inspect } from 'node:util';
import { SecretError } from '../errors.js';

const KEY_BYTES = 32;
/** Beside the objects, so that not even an inspector that ignores `inspect.custom` prints a key. */
const BYTES = new WeakMap<Secret, Buffer>();

/** A key that does not show itself: not in logs, not in JSON, not in the inspector. */
export class Secret {
  /** 32 bytes, or 64 hexadecimal digits. Copied, so that the caller may wipe its own. */
  constructor(key: Uint8Array | string) {
    const bytes = typeof key === 'string' ? Buffer.from(key.trim(), 'hex') : Buffer.from(key);
    if (bytes.length !== KEY_BYTES) throw new SecretError(bytes.length);
    BYTES.set(this, bytes);
  }

  /** The bytes, for a MAC and for nothing else. */
  reveal(): Buffer {
    return BYTES.get(this) as Buffer; // set in the constructor
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
