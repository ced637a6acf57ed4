import type { TransportLimits } from '../access/transport-limits.js';
import { addressKey } from '../net/address.js';

const MINUTE_MS = 60_000;
/** Addresses remembered for failed Auths. The oldest is forgotten first: a flood of addresses must not cost memory. */
const SUSPECTS_MAX = 4_096;

interface AuthFailures {
  since: number;
  failures: number;
  until: number;
}

/** Who may come in, as counters. Times are handed in. */
export class ConnectionAdmission {
  private readonly limits: TransportLimits;
  private readonly unauthenticatedByAddress = new Map<string, number>();
  private readonly connectionsByIdentity = new Map<string, number>();
  private readonly authFailures = new Map<string, AuthFailures>();
  private unauthenticatedTotal = 0;
  private connectionTotal = 0;

  constructor(limits: TransportLimits) {
    this.limits = limits;
  }

  get connections(): number {
    return this.connectionTotal;
  }

  get unauthenticated(): number {
    return this.unauthenticatedTotal;
  }

  /** 'accept' counts the socket in: `left` must follow. 'drop': no word to one that keeps guessing keys. */
  accept(remote: string, now: number): 'accept' | 'reject' | 'drop' {
    const key = addressKey(remote);
    const suspect = this.authFailures.get(key);
    if (suspect !== undefined && now < suspect.until) return 'drop';
    const here = this.unauthenticatedByAddress.get(key) ?? 0;
    const { connectionsMax, unauthenticatedMax, unauthenticatedPerAddressMax } = this.limits;
    if (
      this.connectionTotal >= connectionsMax ||
      this.unauthenticatedTotal >= unauthenticatedMax ||
      here >= unauthenticatedPerAddressMax
    ) {
      return 'reject';
    }
    this.connectionTotal += 1;
    this.unauthenticatedTotal += 1;
    this.unauthenticatedByAddress.set(key, here + 1);
    return 'accept';
  }

  hasRoom(identityName: string): boolean {
    return (this.connectionsByIdentity.get(identityName) ?? 0) < this.limits.connectionsPerIdentityMax;
  }

  authenticated(remote: string, identityName: string): void {
    this.removeUnauthenticated(remote);
    this.connectionsByIdentity.set(identityName, (this.connectionsByIdentity.get(identityName) ?? 0) + 1);
  }

  /** `identityName` null: it never was proven. */
  closed(remote: string, identityName: string | null): void {
    this.connectionTotal -= 1;
    if (identityName === null) this.removeUnauthenticated(remote);
    else decrement(this.connectionsByIdentity, identityName);
  }

  authFailed(remote: string, now: number): void {
    const key = addressKey(remote);
    const known = this.authFailures.get(key);
    const suspect =
      known !== undefined && now - known.since < MINUTE_MS ? known : { since: now, failures: 0, until: 0 };
    suspect.failures += 1;
    if (suspect.failures > this.limits.authFailuresPerMinute) suspect.until = now + this.limits.authPenaltyMs;
    this.authFailures.delete(key);
    this.authFailures.set(key, suspect);
    if (this.authFailures.size <= SUSPECTS_MAX) return;
    for (const oldest of this.authFailures.keys()) {
      this.authFailures.delete(oldest);
      return;
    }
  }

  private removeUnauthenticated(remote: string): void {
    this.unauthenticatedTotal -= 1;
    decrement(this.unauthenticatedByAddress, addressKey(remote));
  }
}

function decrement(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 1) - 1;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}
