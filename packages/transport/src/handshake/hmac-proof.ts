import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../access/secret.js';

/** All bytes exchanged so far. A proof is valid for exactly these bytes on exactly this TLS channel. */
export interface Transcript {
  readonly helloType: number;
  readonly hello: Uint8Array;
  readonly challenge: Uint8Array;
  readonly authWithoutProof: Uint8Array;
  /** Keying material of the TLS channel, or empty. */
  readonly binding: Uint8Array;
}

export function dialerProof(key: Secret, transcript: Transcript): Buffer {
  return hmacOf(key, 'troupe-c1', transcript).digest();
}

export function listenerProof(
  key: Secret,
  transcript: Transcript,
  proof: Uint8Array,
  welcome: Uint8Array,
): Buffer {
  return hmacOf(key, 'troupe-s1', transcript).update(proof).update(welcome).digest();
}

export function sameProof(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function hmacOf(key: Secret, label: string, transcript: Transcript): ReturnType<typeof createHmac> {
  return createHmac('sha256', key.reveal())
    .update(label)
    .update(Uint8Array.of(transcript.helloType))
    .update(transcript.hello)
    .update(transcript.challenge)
    .update(transcript.authWithoutProof)
    .update(transcript.binding);
}
