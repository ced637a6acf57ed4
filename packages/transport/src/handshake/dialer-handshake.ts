import type { Role } from '../access/identity.js';
import { Secret } from '../access/secret.js';
import type { TransportLimits } from '../access/transport-limits.js';
import { FrameType } from '../frame/frame-type.js';
import type { HandshakeResult } from './handshake-result.js';
import type { HandshakeStep } from './handshake-step.js';
import {
  type AuthMethod,
  capacityOf,
  encodeHello,
  helloTypeOf,
  NONCE_BYTES,
  PROTOCOL_VERSION,
} from './hello.js';
import { dialerProof, listenerProof, sameProof, type Transcript } from './hmac-proof.js';
import type { ChannelSecurity } from './listener-handshake.js';
import { decodeWelcome } from './welcome.js';

/**
 * How a dialer proves its identity.
 *
 *   { kind: 'none' }              not at all
 *   { kind: 'hmac', keyId, key }  by a secret that the listener has too
 *   { kind: 'mtls' }              by the certificate in its TLS options
 */
export type DialerAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'hmac'; readonly keyId: string; readonly key: Secret | Uint8Array | string }
  | { readonly kind: 'mtls' };

export interface DialerHandshakeOptions {
  readonly role: Role;
  readonly name: string;
  readonly auth: DialerAuth;
  readonly limits: TransportLimits;
  readonly channel: ChannelSecurity;
  readonly secureRandom: (bytes: number) => Uint8Array;
}

const CHALLENGE_BYTES = 2 + NONCE_BYTES;

/** The dialer's half of the handshake. It offers one method only, which rules out a downgrade attack. */
export class DialerHandshake {
  /** A dialer uses the full dialect only. */
  readonly helloSeen = true;
  readonly hello: Buffer;
  readonly helloType: number;
  private readonly options: DialerHandshakeOptions;
  private written: { key: Secret; transcript: Transcript; proof: Buffer } | null = null;

  constructor(options: DialerHandshakeOptions) {
    this.options = options;
    this.helloType = helloTypeOf(options.role);
    this.hello = encodeHello({
      versionMin: PROTOCOL_VERSION,
      versionMax: PROTOCOL_VERSION,
      methods: [options.auth.kind],
      nonce: options.secureRandom(NONCE_BYTES),
      capacity: capacityOf(options.limits),
      name: options.name,
    });
  }

  receive(type: number, payload: Buffer): HandshakeStep {
    if (type === FrameType.Challenge) return this.onChallenge(payload);
    if (type === FrameType.Welcome) return this.onWelcome(payload);
    return { kind: 'refuse', errorName: 'PROTOCOL', cause: 'Challenge or Welcome expected' };
  }

  private onChallenge(payload: Buffer): HandshakeStep {
    const { auth, channel } = this.options;
    if (
      auth.kind !== 'hmac' ||
      this.written !== null ||
      payload.length !== CHALLENGE_BYTES ||
      payload[1] !== 1
    ) {
      return { kind: 'refuse', errorName: 'PROTOCOL', cause: 'unexpected Challenge' };
    }
    const key = auth.key instanceof Secret ? auth.key : new Secret(auth.key);
    const authWithoutProof = Buffer.concat([
      Uint8Array.of(1, auth.keyId.length),
      Buffer.from(auth.keyId, 'latin1'),
    ]);
    const transcript: Transcript = {
      helloType: this.helloType,
      hello: this.hello,
      challenge: Buffer.from(payload),
      authWithoutProof,
      binding: channel.binding,
    };
    const proof = dialerProof(key, transcript);
    this.written = { key, transcript, proof };
    return { kind: 'reply', type: FrameType.Auth, payload: Buffer.concat([authWithoutProof, proof]) };
  }

  private onWelcome(payload: Buffer): HandshakeStep {
    const read = decodeWelcome(payload);
    if (read === null || read.welcome.version !== PROTOCOL_VERSION) {
      return { kind: 'refuse', errorName: 'PROTOCOL', cause: 'malformed Welcome' };
    }
    const { welcome, signed, proof } = read;
    const method: AuthMethod = this.options.auth.kind;
    if (welcome.authMethod !== method || !this.listenerProved(signed, proof)) {
      return {
        kind: 'refuse',
        errorName: 'AUTH_FAILED',
        cause: 'the listener did not prove the key',
      };
    }
    const result: HandshakeResult = {
      connectionId: welcome.connectionId,
      dialect: 'full',
      authMethod: method,
      role: this.options.role,
      claimedName: this.options.name,
      identity: null,
      identityName: welcome.identityName,
      credential: null,
      peerCapacity: welcome.capacity,
      // Each side may be stricter about the other's silence than the other wants.
      pingMs: Math.min(welcome.pingMs, this.options.limits.pingMs),
      deadMs: Math.min(welcome.deadMs, this.options.limits.deadMs),
      inFlightMax: welcome.inFlightMax,
      creditMax: welcome.creditMax,
    };
    return { kind: 'ready', result, welcome: null };
  }

  private listenerProved(signed: Buffer, proof: Buffer): boolean {
    if (this.options.auth.kind !== 'hmac') return true;
    const { written } = this;
    return (
      written !== null &&
      sameProof(listenerProof(written.key, written.transcript, written.proof, signed), proof)
    );
  }
}
