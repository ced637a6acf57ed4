import { createHash, timingSafeEqual } from 'node:crypto';
import { type Principal, type Role, rolesOf } from './role.js';

export interface AccessToken {
  /** A plain name: on the page, in refusals, and in the audit behind that of the gateway’s client. */
  readonly name: string;
  /** The secret: at least 16 characters. */
  readonly token: string;
  /** Its rights. */
  readonly roles: readonly Role[];
}

interface KnownToken {
  readonly digest: Buffer;
  readonly principal: Principal;
}

/** The tokens that are accepted. Only their digests are kept. */
export class AccessTokens {
  private readonly known: readonly KnownToken[];

  constructor(tokens: readonly AccessToken[]) {
    this.known = tokens.map(({ name, token, roles }) => ({
      digest: digestOf(token),
      principal: { name, roles: rolesOf(roles) },
    }));
  }

  get isEmpty(): boolean {
    return this.known.length === 0;
  }

  /** Looks at every token, so that the time tells nothing about which one is near. */
  find(given: string): Principal | undefined {
    const digest = digestOf(given);
    let found: Principal | undefined;
    for (const { digest: known, principal } of this.known)
      if (timingSafeEqual(known, digest)) found = principal;
    return found;
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
