import type { TransportLimits } from '../access/limits.js';
import { addressKey } from '../net/address.js';

const MINUTE_MS = 60_000;
/** Addresses remembered for failed Auths. The oldest is forgotten first: a flood of addresses must not cost memory. */
const SUSPECTS_MAX = 4_096;

interface Suspect {
  since: number;
  failures: number;
  until: number;
}

/** Who may come in, as counters. Times are handed in. */
export class Admission {
  readonly #limits: TransportLimits;
  readonly #unproven = new Map<string, number>();
  readonly #identities = new Map<string, number>();
  readonly #suspects = new Map<string, Suspect>();
  #unprovenTotal = 0;
  #total = 0;

  constructor(limits: TransportLimits) {
    this.#limits = limits;
  }

  get connections(): number {
    return this.#total;
  }

  get unproven(): number {
    return this.#unprovenTotal;
  }

  /** 'accept' counts the socket in: `left` must follow. 'drop': no word to one that keeps guessing keys. */
  arrive(remote: string, now: number): 'accept' | 'reject' | 'drop' {
    const key = addressKey(remote);
    const suspect = this.#suspects.get(key);
    if (suspect !== undefined && now < suspect.until) return 'drop';
    const here = this.#unproven.get(key) ?? 0;
    const { connectionsMax, unauthenticatedMax, unauthenticatedPerAddressMax } = this.#limits;
    if (
      this.#total >= connectionsMax ||
      this.#unprovenTotal >= unauthenticatedMax ||
      here >= unauthenticatedPerAddressMax
    ) {
      return 'reject';
    }
    this.#total += 1;
    this.#unprovenTotal += 1;
    this.#unproven.set(key, here + 1);
    return 'accept';
  }

  hasRoom(identityName: string): boolean {
    return (this.#identities.get(identityName) ?? 0) < this.#limits.connectionsPerIdentityMax;
  }

  proven(remote: string, identityName: string): void {
    this.#lessUnproven(remote);
    this.#identities.set(identityName, (this.#identities.get(identityName) ?? 0) + 1);
  }

  /** `identityName` null: it never was proven. */
  left(remote: string, identityName: string | null): void {
    this.#total -= 1;
    if (identityName === null) this.#lessUnproven(remote);
    else lessen(this.#identities, identityName);
  }

  failedAuth(remote: string, now: number): void {
    const key = addressKey(remote);
    const known = this.#suspects.get(key);
    const suspect =
      known !== undefined && now - known.since < MINUTE_MS ? known : { since: now, failures: 0, until: 0 };
    suspect.failures += 1;
    if (suspect.failures > this.#limits.authFailuresPerMinute)
      suspect.until = now + this.#limits.authPenaltyMs;
    this.#suspects.delete(key);
    this.#suspects.set(key, suspect);
    if (this.#suspects.size <= SUSPECTS_MAX) return;
    for (const oldest of this.#suspects.keys()) {
      this.#suspects.delete(oldest);
      return;
    }
  }

  #lessUnproven(remote: string): void {
    this.#unprovenTotal -= 1;
    lessen(this.#unproven, addressKey(remote));
  }
}

function lessen(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 1) - 1;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}
