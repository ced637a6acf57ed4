import { inspect } from 'node:util';
import { SecretError } from '../transport-error.js';

const KEY_BYTES = 32;
/** Outside of the objects, so that an inspector that ignores `inspect.custom` prints no key either. */
const BYTES = new WeakMap<Secret, Buffer>();

/** A key that is never printed: not in logs, not in JSON, not by an inspector. */
export class Secret {
  /** 32 bytes, or 64 hexadecimal digits. A copy: the caller may overwrite its own bytes. */
  constructor(key: Uint8Array | string) {
    const bytes = typeof key === 'string' ? Buffer.from(key.trim(), 'hex') : Buffer.from(key);
    if (bytes.length !== KEY_BYTES) throw new SecretError(bytes.length);
    BYTES.set(this, bytes);
  }

  /** The bytes, for computing a MAC only. */
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
