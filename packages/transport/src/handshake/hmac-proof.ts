import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../access/secret.js';

/** Everything both sides have said so far. Whoever proves a key proves it for exactly these bytes, on exactly this TLS channel. */
export interface Transcript {
  readonly helloType: number;
  readonly hello: Uint8Array;
  readonly challenge: Uint8Array;
  readonly authWithoutProof: Uint8Array;
  /** Keying material of the TLS channel, or empty. */
  readonly binding: Uint8Array;
}

export function dialerProof(key: Secret, said: Transcript): Buffer {
  return hmacOf(key, 'troupe-c1', said).digest();
}

export function listenerProof(key: Secret, said: Transcript, proof: Uint8Array, welcome: Uint8Array): Buffer {
  return hmacOf(key, 'troupe-s1', said).update(proof).update(welcome).digest();
}

export function sameProof(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function hmacOf(key: Secret, label: string, said: Transcript): ReturnType<typeof createHmac> {
  return createHmac('sha256', key.reveal())
    .update(label)
    .update(Uint8Array.of(said.helloType))
    .update(said.hello)
    .update(said.challenge)
    .update(said.authWithoutProof)
    .update(said.binding);
}
