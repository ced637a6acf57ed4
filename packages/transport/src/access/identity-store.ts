import { AccessRuleError } from '../transport-error.js';
import { Identity, type IdentityRules } from './identity.js';
import { Secret } from './secret.js';

/** An identity with its credentials: any number of keys (two during a key rotation), or a certificate. */
export interface IdentityEntry extends IdentityRules {
  /** Any number of keys, two during a rotation. */
  readonly keys?: readonly { readonly id: string; readonly key: Secret | Uint8Array | string }[] | undefined;
  /** The URI in the subject alternative name of its certificate. Default: none. */
  readonly certificate?: string | undefined;
}

export interface KeyOwner {
  readonly identity: Identity;
  readonly key: Secret;
}

const KEY_ID = /^[A-Za-z0-9_.-]{1,64}$/;

/** All identities of a listener, by credential. Immutable: a new configuration is a new store. */
export class IdentityStore {
  private readonly ownerByKeyId = new Map<string, KeyOwner>();
  private readonly identityByCertificate = new Map<string, Identity>();

  constructor(entries: readonly IdentityEntry[]) {
    const names = new Set<string>();
    for (const { keys = [], certificate, ...rules } of entries) {
      const identity = new Identity(rules);
      if (names.has(identity.name))
        throw new AccessRuleError('identity.name', 'needed each name once', identity.name);
      names.add(identity.name);
      for (const { id, key } of keys) this.addKey(id, key, identity);
      if (certificate !== undefined) this.addCertificate(certificate, identity);
    }
  }

  byKeyId(keyId: string): KeyOwner | undefined {
    return this.ownerByKeyId.get(keyId);
  }

  byCertificate(certificate: string): Identity | undefined {
    return this.identityByCertificate.get(certificate);
  }

  private addKey(id: string, key: Secret | Uint8Array | string, identity: Identity): void {
    const option = `identity.keys of ${identity.name}`;
    if (!KEY_ID.test(id)) throw new AccessRuleError(option, 'needed a key id of 1 to 64 [A-Za-z0-9_.-]', id);
    if (this.ownerByKeyId.has(id)) throw new AccessRuleError(option, 'needed each key id once', id);
    this.ownerByKeyId.set(id, { identity, key: key instanceof Secret ? key : new Secret(key) });
  }

  private addCertificate(certificate: string, identity: Identity): void {
    if (this.identityByCertificate.has(certificate))
      throw new AccessRuleError(
        `identity.certificate of ${identity.name}`,
        'needed each certificate once',
        certificate,
      );
    this.identityByCertificate.set(certificate, identity);
  }
}
