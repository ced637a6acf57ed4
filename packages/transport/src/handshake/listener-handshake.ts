import { type Identity, LOCAL_IDENTITY, type Role } from '../access/identity.js';
import type { IdentityStore } from '../access/identity-store.js';
import { Secret } from '../access/secret.js';
import type { TransportLimits } from '../access/transport-limits.js';
import { FrameType, isHello } from '../frame/frame-type.js';
import type { HandshakeResult } from './handshake-result.js';
import type { HandshakeStep } from './handshake-step.js';
import {
  type AuthMethod,
  capacityOf,
  decodeHello,
  type Hello,
  NONCE_BYTES,
  PROOF_BYTES,
  PROTOCOL_VERSION,
  roleOf,
} from './hello.js';
import { dialerProof, listenerProof, sameProof, type Transcript } from './hmac-proof.js';
import { encodeWelcome, type Welcome } from './welcome.js';

/**
 * How a listener authenticates its peers.
 *
 *   { kind: 'none' }              not at all
 *   { kind: 'hmac', identities }  by a secret that both sides have
 *   { kind: 'mtls', identities }  by the certificate of the peer
 */
export type ListenerAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'hmac'; readonly identities: IdentityStore }
  | { readonly kind: 'mtls'; readonly identities: IdentityStore };

/** Properties of the socket that authentication relies on. */
export interface ChannelSecurity {
  /** Keying material of the TLS channel; empty without TLS. */
  readonly binding: Uint8Array;
  /** The only URI in the verified certificate of the peer, or null. */
  readonly certificate: string | null;
}

export interface ListenerHandshakeOptions {
  readonly auth: ListenerAuth;
  readonly limits: TransportLimits;
  readonly servesMinimal: boolean;
  readonly channel: ChannelSecurity;
  readonly secureRandom: (bytes: number) => Uint8Array;
  /** Checked last before Welcome: false where this identity has its maximum of connections. */
  readonly hasRoom: (identity: Identity) => boolean;
  /** Authentication has failed. */
  readonly onFailure: () => boolean;
}

const CONNECTION_ID_BYTES = 16;

const NO_METHOD = 'method not offered';

/**
 * The listener's half of the handshake: a frame in, a step out. A peer without a key costs at most one HMAC.
 */
export class ListenerHandshake {
  private readonly options: ListenerHandshakeOptions;
  private received: { type: number; payload: Buffer; hello: Hello; challenge: Buffer } | null = null;

  constructor(options: ListenerHandshakeOptions) {
    this.options = options;
  }

  /** The peer uses the full dialect, so it gets an Error where the handshake fails. */
  get helloSeen(): boolean {
    return this.received !== null;
  }

  receive(type: number, payload: Buffer): HandshakeStep {
    const step = this.received === null ? this.onHello(type, payload) : this.onAuth(type, payload);
    // A hello without a key is no guess.
    const isGuess = step.kind === 'refuse' && step.errorName === 'AUTH_FAILED' && step.cause !== NO_METHOD;
    return isGuess && this.options.onFailure() ? { ...step, isDelayed: true } : step;
  }

  private onHello(type: number, payload: Buffer): HandshakeStep {
    if (!isHello(type)) return { kind: 'drop', cause: 'first frame is not a Hello' };
    if (payload.length === 0) return this.acceptMinimal(roleOf(type));
    const hello = decodeHello(payload);
    if (hello === null) return { kind: 'drop', cause: 'malformed Hello' };
    const challenge = this.newChallenge();
    this.received = { type, payload: Buffer.from(payload), hello, challenge };
    if (hello.versionMin > PROTOCOL_VERSION || hello.versionMax < PROTOCOL_VERSION)
      return refuse('VERSION', 'no common version');
    if (!hello.methods.includes(this.options.auth.kind)) return refuse('AUTH_FAILED', NO_METHOD);
    switch (this.options.auth.kind) {
      case 'none':
        return this.welcome('none', LOCAL_IDENTITY, null);
      case 'mtls': {
        const certificate = this.options.channel.certificate;
        const holder =
          certificate === null ? undefined : this.options.auth.identities.byCertificate(certificate);
        return holder === undefined
          ? refuse('AUTH_FAILED', 'unknown certificate')
          : this.welcome('mtls', holder, null);
      }
      case 'hmac':
        return { kind: 'reply', type: FrameType.Challenge, payload: challenge };
      default:
        return this.options.auth satisfies never;
    }
  }

  private onAuth(type: number, payload: Buffer): HandshakeStep {
    const { auth, channel } = this.options;
    const { received } = this;
    if (type !== FrameType.Auth || auth.kind !== 'hmac' || received === null)
      return refuse('PROTOCOL', 'Auth expected');
    const keyIdEnd = 2 + (payload[1] ?? 0);
    if (payload[0] !== 1 || payload.length !== keyIdEnd + PROOF_BYTES)
      return refuse('AUTH_FAILED', 'not an Auth frame');
    const keyId = payload.toString('latin1', 2, keyIdEnd);
    const owner = auth.identities.byKeyId(keyId);
    // An unknown id costs the same work as a wrong proof, so that timing does not reveal which ids exist.
    const key = owner?.key ?? new Secret(this.options.secureRandom(NONCE_BYTES));
    const transcript: Transcript = {
      helloType: received.type,
      hello: received.payload,
      challenge: received.challenge,
      authWithoutProof: payload.subarray(0, keyIdEnd),
      binding: channel.binding,
    };
    const proof = payload.subarray(keyIdEnd);
    if (!sameProof(dialerProof(key, transcript), proof) || owner === undefined) {
      return refuse('AUTH_FAILED', owner === undefined ? 'unknown key id' : 'wrong proof');
    }
    return this.welcome('hmac', owner.identity, { keyId, key, transcript, bytes: Buffer.from(proof) });
  }

  private welcome(
    authMethod: AuthMethod,
    identity: Identity,
    proof: { keyId: string; key: Secret; transcript: Transcript; bytes: Buffer } | null,
  ): HandshakeStep {
    const { received } = this;
    if (received === null) return refuse('PROTOCOL', 'Hello expected');
    const role = roleOf(received.type);
    if (!identity.mayActAs(role)) return refuse('AUTH_FAILED', `not allowed as ${role}`);
    if (!this.options.hasRoom(identity))
      return refuse('TOO_MANY_CONNECTIONS', 'too many connections of this identity');
    const { limits } = this.options;
    const welcome: Welcome = {
      version: PROTOCOL_VERSION,
      authMethod,
      connectionId: Buffer.from(this.options.secureRandom(CONNECTION_ID_BYTES)).toString('hex'),
      capacity: capacityOf(limits),
      pingMs: limits.pingMs,
      deadMs: limits.deadMs,
      inFlightMax: limits.inFlightMax,
      creditMax: limits.creditMax,
      identityName: identity.name,
    };
    const payload = encodeWelcome(welcome);
    const signed =
      proof === null
        ? payload
        : Buffer.concat([payload, listenerProof(proof.key, proof.transcript, proof.bytes, payload)]);
    const name = received.hello.name === '' ? welcome.connectionId : received.hello.name;
    const result = {
      ...this.resultOf(role, name, welcome, received.hello),
      identity,
      credential: proof?.keyId ?? this.options.channel.certificate,
    };
    return { kind: 'ready', result, welcome: signed };
  }

  private resultOf(
    role: Role,
    name: string,
    welcome: Welcome,
    hello: Hello,
  ): Omit<HandshakeResult, 'identity' | 'credential'> {
    return {
      connectionId: welcome.connectionId,
      dialect: 'full',
      authMethod: welcome.authMethod,
      role,
      claimedName: name,
      identityName: welcome.identityName,
      peerCapacity: hello.capacity,
      pingMs: welcome.pingMs,
      deadMs: welcome.deadMs,
      inFlightMax: welcome.inFlightMax,
      creditMax: welcome.creditMax,
    };
  }

  private acceptMinimal(role: Role): HandshakeStep {
    const { limits, servesMinimal, auth, hasRoom, secureRandom } = this.options;
    if (!servesMinimal || auth.kind !== 'none')
      return { kind: 'drop', cause: 'minimal dialect is not served here' };
    if (!hasRoom(LOCAL_IDENTITY)) return { kind: 'drop', cause: 'too many connections of this identity' };
    const id = Buffer.from(secureRandom(CONNECTION_ID_BYTES)).toString('hex');
    const result: HandshakeResult = {
      connectionId: id,
      dialect: 'minimal',
      authMethod: 'none',
      role,
      claimedName: id,
      identity: LOCAL_IDENTITY,
      identityName: LOCAL_IDENTITY.name,
      credential: null,
      peerCapacity: {
        payloadBytesMax: limits.minimalPayloadBytesMax,
        bodyBytesMax: 0,
        windowBytes: 0,
        chunkBytesMax: 0,
      },
      pingMs: limits.pingMs,
      deadMs: limits.deadMs,
      inFlightMax: limits.inFlightMax,
      creditMax: limits.creditMax,
    };
    return { kind: 'ready', result, welcome: null };
  }

  private newChallenge(): Buffer {
    return Buffer.concat([Uint8Array.of(PROTOCOL_VERSION, 1), this.options.secureRandom(NONCE_BYTES)]);
  }
}

function refuse(
  errorName: 'PROTOCOL' | 'AUTH_FAILED' | 'VERSION' | 'TOO_MANY_CONNECTIONS',
  cause: string,
): HandshakeStep {
  return { kind: 'refuse', errorName, cause };
}
